package daemon

import (
	"os"
	"path/filepath"
)

// storeBytes is how much room the home's own store takes, with the files
// beside it; 0 where it has none, since the store is shared then.
func (d *Daemon) storeBytes() (total int64) {
	files, err := filepath.Glob(d.cfg.Home.Store() + "*")
	if err != nil { // only a home whose name is a pattern could do that
		return 0
	}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && !kept(name, d.cfg.Home.Store()) {
			total += info.Size()
		}
	}
	return total
}

// kept reports a store of before, which a restore has put aside.
func kept(name, store string) bool {
	before := store + ".before-"
	return len(name) > len(before) && name[:len(before)] == before
}
