package sink

// syncDir has nothing to do: the file system keeps names in its own journal.
func syncDir(string) error { return nil }
