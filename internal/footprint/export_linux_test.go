package footprint

// Given says which areas of a list would be given back for a program, by
// where they start.
func Given(smaps, program string) []uintptr {
	var out []uintptr
	for _, a := range areas([]byte(smaps)) {
		if a.isOnly(program) {
			out = append(out, a.start)
		}
	}
	return out
}
