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

// ResidentAt is how many bytes are there of the area that begins at an
// address; -1 where there is none.
func ResidentAt(smaps string, at uintptr) int64 {
	for _, a := range areas([]byte(smaps)) {
		if a.start == at {
			return a.resident
		}
	}
	return -1
}
