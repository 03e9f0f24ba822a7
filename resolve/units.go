package resolve

// The built-in dimensions of [Quantity].
const (
	DimensionBytes  = "bytes"
	DimensionTime   = "time"
	DimensionLength = "length"
	DimensionMass   = "mass"
)

// UnitTable is the version of the built-in units. It moves with every change
// of them.
const UnitTable = "units-2026.1"

// unit is one unit with all of its names and its size in the unit whose size
// is 1, as an exact decimal.
type unit struct {
	names []string
	size  string
}

// dimensions hold only units of one fixed size and one meaning. Left out on
// purpose: KB, K, M and G (1000 or 1024), month and year (of several
// lengths), m for minute, ton (three sizes), pint, gallon and mile of the
// sea or the survey. A catalog that needs one declares what it means there.
//
// Sources: IEC 80000-13 (bytes), SI brochure 9th edition tables 7 and 8
// (prefixes, min, h, d, tonne), the international yard and pound agreement of
// 1959 (in, ft, yd, mi, oz, lb).
var dimensions = map[string][]unit{
	DimensionBytes: {
		{[]string{"B", "byte", "bytes"}, "1"},
		{[]string{"kB", "kilobyte", "kilobytes"}, "1000"},
		{[]string{"MB", "megabyte", "megabytes"}, "1000000"},
		{[]string{"GB", "gigabyte", "gigabytes"}, "1000000000"},
		{[]string{"TB", "terabyte", "terabytes"}, "1000000000000"},
		{[]string{"PB", "petabyte", "petabytes"}, "1000000000000000"},
		{[]string{"KiB", "kibibyte", "kibibytes"}, "1024"},
		{[]string{"MiB", "mebibyte", "mebibytes"}, "1048576"},
		{[]string{"GiB", "gibibyte", "gibibytes"}, "1073741824"},
		{[]string{"TiB", "tebibyte", "tebibytes"}, "1099511627776"},
		{[]string{"PiB", "pebibyte", "pebibytes"}, "1125899906842624"},
	},
	DimensionTime: {
		{[]string{"ns", "nanosecond", "nanoseconds"}, "0.000000001"},
		{[]string{"us", "\u00b5s", "\u03bcs", "microsecond", "microseconds"}, "0.000001"},
		{[]string{"ms", "millisecond", "milliseconds"}, "0.001"},
		{[]string{"s", "sec", "second", "seconds"}, "1"},
		{[]string{"min", "minute", "minutes"}, "60"},
		{[]string{"h", "hour", "hours"}, "3600"},
		{[]string{"d", "day", "days"}, "86400"},
		{[]string{"week", "weeks"}, "604800"},
	},
	DimensionLength: {
		{[]string{"nm", "nanometre", "nanometres", "nanometer", "nanometers"}, "0.000000001"},
		{[]string{"um", "\u00b5m", "\u03bcm", "micrometre", "micrometres", "micrometer", "micrometers"}, "0.000001"},
		{[]string{"mm", "millimetre", "millimetres", "millimeter", "millimeters"}, "0.001"},
		{[]string{"cm", "centimetre", "centimetres", "centimeter", "centimeters"}, "0.01"},
		{[]string{"dm", "decimetre", "decimetres", "decimeter", "decimeters"}, "0.1"},
		{[]string{"m", "metre", "metres", "meter", "meters"}, "1"},
		{[]string{"km", "kilometre", "kilometres", "kilometer", "kilometers"}, "1000"},
		{[]string{"in", "inch", "inches"}, "0.0254"},
		{[]string{"ft", "foot", "feet"}, "0.3048"},
		{[]string{"yd", "yard", "yards"}, "0.9144"},
		{[]string{"mi"}, "1609.344"},
	},
	DimensionMass: {
		{[]string{"ug", "\u00b5g", "\u03bcg", "microgram", "micrograms"}, "0.000001"},
		{[]string{"mg", "milligram", "milligrams"}, "0.001"},
		{[]string{"g", "gram", "grams"}, "1"},
		{[]string{"kg", "kilogram", "kilograms"}, "1000"},
		{[]string{"t", "tonne", "tonnes"}, "1000000"},
		{[]string{"oz", "ounce", "ounces"}, "28.349523125"},
		{[]string{"lb", "lbs", "pound", "pounds"}, "453.59237"},
	},
}

// Dimensions returns the names of the built-in dimensions, sorted.
func Dimensions() []string { return sortedKeys(dimensions) }
