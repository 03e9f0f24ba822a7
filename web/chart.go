package web

import "strconv"

// chart is a plot of bars, made here so that no script is needed. Its numbers
// stand beside it in a table.
type chart struct {
	ID      string
	Title   string
	Of      string // what the columns are
	Says    string // the whole in words
	Empty   bool
	Newest  bool // its last column is what a narrow screen shows first
	Width   int
	Height  int
	Base    int // where the bars stand
	Series  []series
	Bars    []plotBar
	Columns []plotColumn
	Most    int
	Rows    []plotRow
}

type series struct{ Name, Class string }

type plotBar struct {
	X, Y, Width, Height int
	Class               string
}

type plotColumn struct {
	X    int
	Name string
	All  string // how many; "" for none
	Y    int    // where that stands
}

type plotRow struct {
	Name   string
	Values []int
}

// The sizes of a plot, in its own units.
const (
	plotHeight = 200
	plotTop    = 22
	plotFoot   = 26
	plotWide   = 70 // one column
	plotBarred = 38 // its bar
)

// newChart stacks the values of each column: values[column][series].
func newChart(id, title, of string, columns []string, list []series, values [][]int) chart {
	c := chart{ID: id, Title: title, Of: of, Series: list, Width: plotWide * len(columns), Height: plotHeight, Base: plotHeight - plotFoot}
	total := 0
	for _, column := range values {
		c.Most = max(c.Most, sum(column))
		total += sum(column)
	}
	c.Empty = total == 0
	c.Says = title + ": " + strconv.Itoa(total) + " in all, at most " + strconv.Itoa(c.Most) + " in one column. The table below has the numbers."
	for i, name := range columns {
		c.Rows = append(c.Rows, plotRow{name, values[i]})
		top := c.Base
		for n, value := range values[i] {
			height := scaled(value, c.Most)
			top -= height
			if height > 0 {
				c.Bars = append(c.Bars, plotBar{plotWide*i + (plotWide-plotBarred)/2, top, plotBarred, height, list[n].Class})
			}
		}
		column := plotColumn{X: plotWide*i + plotWide/2, Name: name, Y: top - 6}
		if all := sum(values[i]); all > 0 {
			column.All = strconv.Itoa(all)
		}
		c.Columns = append(c.Columns, column)
	}
	return c
}

// scaled is the height of a bar; what is there is never too small to be seen.
func scaled(value, most int) int {
	if value == 0 || most == 0 {
		return 0
	}
	return max(2, value*(plotHeight-plotTop-plotFoot)/most)
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}
