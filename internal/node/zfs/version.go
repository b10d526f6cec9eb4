package zfs

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version of one part of OpenZFS.
type Version struct {
	Major, Minor, Patch int
	// Text as it was printed, such as zfs-2.1.11-1.
	Text string
}

// AtLeast compares with another version.
func (v Version) AtLeast(major, minor, patch int) bool {
	return cmp.Or(cmp.Compare(v.Major, major), cmp.Compare(v.Minor, minor), cmp.Compare(v.Patch, patch)) >= 0
}

// Versions of the programs and of the kernel module. Kernel is zero where the module
// is not loaded.
type Versions struct {
	Userland, Kernel Version
}

// Version of the node's ZFS, by `zfs version`. Where only the userland answers, its
// version is returned together with ErrNotLoaded.
func (c *Client) Version(ctx context.Context) (Versions, error) {
	out, err := c.Run(ctx, "zfs", "version")
	if err != nil {
		v, _ := parseVersions(string(out.Stdout))
		return v, explain(err)
	}
	return parseVersions(string(out.Stdout))
}

var versionLine = regexp.MustCompile(`^zfs-(kmod-)?v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?`)

func parseVersions(out string) (Versions, error) {
	var v Versions
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		m := versionLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		to := &v.Userland
		if m[1] != "" {
			to = &v.Kernel
		}
		to.Text = line
		to.Major, _ = strconv.Atoi(m[2])
		to.Minor, _ = strconv.Atoi(m[3])
		to.Patch, _ = strconv.Atoi(m[4])
	}
	switch {
	case v.Userland.Text == "":
		return v, fmt.Errorf("%w: zfs version: %.80q", ErrFormat, out)
	case v.Kernel.Text == "":
		return v, ErrNotLoaded
	}
	return v, nil
}
