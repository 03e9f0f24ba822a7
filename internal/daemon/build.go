package daemon

import (
	"runtime/debug"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Build names a binary.
type Build struct {
	Version string `json:"version"`
	Time    string `json:"time,omitempty"` // of the commit, RFC 3339; "" if unknown
}

// ThisBuild is the build of this binary.
func ThisBuild() Build {
	b := Build{Version: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			b.Time = s.Value
		}
	}
	return b
}

// Newer reports whether b is certainly newer than other. Releases compare by
// semantic version, builds from a checkout by the time of their commit; what
// cannot be compared is not newer.
func (b Build) Newer(other Build) bool {
	if b.release() && other.release() {
		return semver.Compare(b.Version, other.Version) > 0
	}
	mine, errMine := time.Parse(time.RFC3339, b.Time)
	its, errIts := time.Parse(time.RFC3339, other.Time)
	return errMine == nil && errIts == nil && mine.After(its)
}

// release: a version that somebody tagged, not one that the go command made
// up for a commit.
func (b Build) release() bool {
	return semver.IsValid(b.Version) && semver.Build(b.Version) == "" && !module.IsPseudoVersion(b.Version)
}
