package headroom

import (
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// The files that Linux has of control groups, without the leading slash.
const (
	membership = "proc/self/cgroup"
	mounted    = "sys/fs/cgroup"
)

// cgroupPercent is how much of the limit of its control group a process uses: the rest is for what the Go runtime
// doesn't know, such as the kernel's buffers of connections.
const cgroupPercent = 90

// LimitProcess sets the memory limit of the process by that of its control group, unless GOMEMLIMIT is set. root is the
// root of the file system.
func LimitProcess(root fs.FS, log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	group, ok := cgroupLimit(root)
	if !ok {
		return
	}
	limit := group / 100 * cgroupPercent
	debug.SetMemoryLimit(limit)
	log.Info("the memory limit was set by that of the control group; the variable GOMEMLIMIT sets another one",
		"bytes", limit, "controlGroupBytes", group)
}

// cgroupLimit returns the memory limit of the process's control group, in bytes: the lowest of those of the group and
// of the groups around it; false if there is none.
func cgroupLimit(root fs.FS) (limit int64, ok bool) {
	groups, err := fs.ReadFile(root, membership)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(groups)) {
		controllers, group, found := cutMembership(strings.TrimSpace(line))
		dir, file := mounted, "memory.max"
		switch {
		case !found:
			continue
		case controllers == "": // version 2
		case hasMemory(controllers):
			dir, file = path.Join(mounted, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		if found, isSet := lowest(root, dir, group, file); isSet && (!ok || found < limit) {
			limit, ok = found, true
		}
	}
	return limit, ok
}

// cutMembership cuts a line hierarchy:controllers:path.
func cutMembership(line string) (controllers, group string, ok bool) {
	_, rest, ok := strings.Cut(line, ":")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

func hasMemory(controllers string) bool {
	return strings.Contains(","+controllers+",", ",memory,")
}

// lowest returns the lowest limit of a group below dir and of those around it. A container may see the path that its
// group has outside, and its own group at dir: then the folders of the path aren't there.
func lowest(root fs.FS, dir, group, file string) (limit int64, ok bool) {
	group = path.Clean("/" + group)
	for {
		data, err := fs.ReadFile(root, path.Join(dir, group, file))
		if err == nil {
			if n, isSet := parseLimit(string(data)); isSet && (!ok || n < limit) {
				limit, ok = n, true
			}
		}
		if group == "/" {
			return limit, ok
		}
		group = path.Dir(group)
	}
}

// unlimited is more than a machine has: version 1 writes the largest number of pages that it can count.
const unlimited = 1 << 60

func parseLimit(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n > 0 && n < unlimited
}
