package zfs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

func status(t *testing.T, file, pool string) Status {
	t.Helper()
	c, _ := answering("zpool status -P -p -v "+pool, hosttest.Answer{Stdout: sample(t, file)})
	s, err := c.Status(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const links = "/dev/disk/by-id/virtio-"

func TestStatusDegraded(t *testing.T) {
	got := status(t, "status-degraded", "pmirr")
	at := time.Date(2026, time.November, 21, 7, 30, 14, 0, time.UTC)
	equal(t, got, Status{
		Name: "pmirr", State: Degraded,
		Explanation: "One or more devices could not be used because the label is missing or invalid. " +
			"Sufficient replicas exist for the pool to continue functioning in a degraded state.",
		Action: "Replace the device using 'zpool replace'.",
		See:    "https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4J",
		Scan: Scan{State: ScanFinished, At: at,
			Text: "scrub repaired 60K in 00:00:00 with 0 errors on Sat Nov 21 07:30:14 2026"},
		Vdevs: []VdevStatus{{Class: Data, Type: "mirror", Name: "mirror-0", State: Degraded, Children: []VdevStatus{
			{Class: Data, Type: "disk", Name: links + "disk2-part1", State: Online},
			{Class: Data, Type: "disk", Name: "4073388554813144833", State: Unavail, Note: "was " + links + "disk3-part1"},
		}}},
	})
}

func TestStatusOfClasses(t *testing.T) {
	got := status(t, "status-raidz1", "praidz")
	equal(t, flat(got.Vdevs), []string{
		"data raidz1 raidz1-0 ONLINE", "data disk " + links + "disk5-part1 ONLINE",
		"data disk " + links + "disk6-part1 ONLINE", "data disk " + links + "disk7-part1 ONLINE",
		"special disk " + links + "disk10-part1 ONLINE", "logs disk " + links + "disk8-part1 ONLINE",
		"cache disk " + links + "disk9-part1 ONLINE", "spares disk " + links + "disk11-part1 AVAIL",
	})
	if got.Scan.State != ScanNone || got.Suspended || got.DataErrors != 0 {
		t.Errorf("%+v", got)
	}
	if disks := got.Vdevs[0].Disks(); len(disks) != 3 || disks[2].Name != links+"disk7-part1" {
		t.Errorf("%+v", disks)
	}
}

func TestStatusCountsErrors(t *testing.T) {
	got := status(t, "status-checksum", "pmirr")
	if bad := got.Vdevs[0].Children[1]; bad.Checksum != 14 || bad.Read != 0 {
		t.Errorf("%+v", bad)
	}
}

func TestStatusWhileReplacing(t *testing.T) {
	got := status(t, "status-degraded-replacing", "pmirr")
	replacing := got.Vdevs[0].Children[1]
	if replacing.Type != "replacing" || len(replacing.Children) != 2 || replacing.Children[1].Note != "(resilvering)" {
		t.Errorf("%+v", replacing)
	}
	if got.Scan.State != ScanInProgress || !got.Scan.Resilver || got.Scan.At.Second() != 19 {
		t.Errorf("%+v", got.Scan)
	}
}

func TestStatusOfTheOtherSamples(t *testing.T) {
	for file, want := range map[string]struct {
		pool  string
		state Health
		scan  ScanState
	}{
		"status-new":      {"refused", Online, ScanNone},
		"status-offline":  {"pmirr", Degraded, ScanNone},
		"status-scrubbed": {"pmirr", Online, ScanFinished},
	} {
		got := status(t, file, want.pool)
		if got.State != want.state || got.Scan.State != want.scan || len(got.Vdevs) != 1 {
			t.Errorf("%s: %+v", file, got)
		}
	}
}

func TestStatusJSON(t *testing.T) {
	c, _ := answering("zpool status -j -P -p pmirr", hosttest.Answer{Stdout: sample(t, "status")})
	c.Userland = Version{Major: 2, Minor: 3}
	got, err := c.Status(t.Context(), "pmirr")
	if err != nil {
		t.Fatal(err)
	}
	if got.State != Degraded || got.DataErrors != 3 || got.Suspended || !strings.HasPrefix(got.Explanation, "One or more") {
		t.Errorf("%+v", got)
	}
	equal(t, got.Scan, Scan{State: ScanFinished, At: time.Unix(1795246214, 0).UTC(), Text: "scrub finished"})
	equal(t, flat(got.Vdevs), []string{ // in the pool's order, not by name
		"data mirror mirror-0 DEGRADED", "data disk " + links + "disk3-part1 ONLINE",
		"data disk 4073388554813144833 UNAVAIL", "special disk " + links + "disk10-part1 ONLINE",
		"logs disk " + links + "disk8-part1 ONLINE", "cache disk " + links + "disk9-part1 ONLINE",
		"spares disk " + links + "disk11-part1 AVAIL",
	})
	first, second := got.Vdevs[0].Children[0], got.Vdevs[0].Children[1]
	if first.Read != 1 || first.Write != 2 || first.Checksum != 14 || second.Note != "was "+links+"disk2-part1" {
		t.Errorf("%+v %+v", first, second)
	}
	if got.Vdevs[1].Note != "too_small" {
		t.Errorf("%+v", got.Vdevs[1])
	}
}

func TestStatusJSONOfUnusualPools(t *testing.T) {
	const vdevs = `"vdevs":{"p":{"name":"p","state":"ONLINE","vdevs":{"/dev/a":{"name":"/dev/a","state":"ONLINE"}}}}`
	for body, want := range map[string]Scan{
		`"scan_stats":{"function":"SCRUB","state":"SCANNING","start_time":"7","end_time":"0","scrub_pause":"-"}`: {
			State: ScanInProgress, At: time.Unix(7, 0).UTC(), Text: "scrub scanning"},
		`"scan_stats":{"function":"SCRUB","state":"SCANNING","start_time":7,"scrub_pause":9}`: {
			State: ScanPaused, At: time.Unix(9, 0).UTC(), Text: "scrub scanning"},
		`"scan_stats":{"function":"RESILVER","state":"CANCELED","end_time":"8"}`: {
			State: ScanCanceled, Resilver: true, At: time.Unix(8, 0).UTC(), Text: "resilver canceled"},
		`"scan_stats":{"function":"NONE","state":"NONE"}`: {State: ScanNone, Text: "none none"},
		`"status":"OK"`: {State: ScanNone},
	} {
		got, err := parseStatusJSON(`{"pools":{"p":{"state":"ONLINE",`+body+`,`+vdevs+`}}}`, "p")
		if err != nil {
			t.Error(err)
		}
		equal(t, got.Scan, want)
		if got.Explanation != "" {
			t.Errorf("%q", got.Explanation)
		}
	}
	for _, out := range []string{
		"", "{}", "[]", `{"pools":{"p":{}}}`, `{"pools":{"p":{"state":"ONLINE","vdevs":[]}}}`,
		`{"pools":{"p":{"state":"ONLINE","vdevs":{"p":{"vdevs":{}}}}}}`, `{"pools":{"q":{"state":"ONLINE",` + vdevs + `}}}`,
		`{"pools":{"p":{"state":"ONLINE","vdevs":{"p":1}}}}`, `{"pools":{"p":{"state":"ONLINE","vdevs":null}}}`,
	} {
		if _, err := parseStatusJSON(out, "p"); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", out, err)
		}
	}
}

func TestScan(t *testing.T) {
	at := time.Date(2024, time.November, 3, 0, 24, 1, 0, time.UTC)
	for text, want := range map[string]Scan{
		"":               {State: ScanNone},
		"none requested": {State: ScanNone},
		"scrub repaired 0B in 00:00:01 with 7 errors on Sun Nov 3 00:24:01 2024": {State: ScanFinished, Errors: 7, At: at},
		"resilvered 1.2G in 00:00:10 with 0 errors on Sun Nov 3 00:24:01 2024":   {State: ScanFinished, Resilver: true, At: at},
		"scrub canceled on Sun Nov 3 00:24:01 2024":                              {State: ScanCanceled, At: at},
		"scrub paused since Sun Nov 3 00:24:01 2024 scrub started on Sat Nov 2":  {State: ScanPaused, At: at},
		"scrub in progress since Sun Nov 3 00:24:01 2024 1G scanned":             {State: ScanInProgress, At: at},
		"scrub in progress since yesterday":                                      {State: ScanInProgress},
	} {
		want.Text = text
		equal(t, parseScan(text), want)
	}
}

func TestDataErrors(t *testing.T) {
	for text, want := range map[string]int{
		"":                                    0,
		" No known data errors":               0,
		" 5 data errors, use '-v' for a list": 5,
		" 1 data error, use '-v' for a list":  1,
		" List of errors unavailable: permission denied":                                                  -1,
		" Permanent errors have been detected in the following files:\n\n        /tank/a\n  tank:<0x1>\n": 2,
	} {
		if got := parseErrors(strings.Split(text, "\n")); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestSuspended(t *testing.T) {
	const vdevs = "config:\n\n\tNAME STATE READ WRITE CKSUM\n\tp UNAVAIL 0 0 0\n\t  /dev/a ONLINE 0 0 0\n"
	for head, want := range map[string]bool{
		" state: SUSPENDED\n": true,
		" state: UNAVAIL\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-HC\n": true,
		" state: UNAVAIL\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-JQ\n": true,
		" state: UNAVAIL\n": false,
	} {
		got, err := parseStatus("  pool: p\n"+head+vdevs, "p")
		if err != nil || got.Suspended != want {
			t.Errorf("%q: %v, %v", head, got.Suspended, err)
		}
	}
}

func TestStatusOfUnknownForm(t *testing.T) {
	good := sample(t, "status-new")
	for _, out := range []string{
		"", "no pools available", good + good, strings.ReplaceAll(good, "refused", "other"),
		strings.ReplaceAll(good, " state:", " estado:"), good[:strings.Index(good, "config:")],
	} {
		if _, err := parseStatus(out, "refused"); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", out, err)
		}
	}
}

func TestWholeDisk(t *testing.T) {
	for path, want := range map[string]string{
		links + "disk2-part1":           links + "disk2",
		links + "disk2":                 links + "disk2",
		"/dev/disk/by-id/x-part1-part2": "/dev/disk/by-id/x-part1",
		"/dev/nvme0n1p1":                "/dev/nvme0n1",
		"/dev/nvme0n1":                  "/dev/nvme0n1",
		"/dev/nbd12p1":                  "/dev/nbd12",
		"/dev/nbd12":                    "/dev/nbd12",
		"/dev/sda1":                     "/dev/sda",
		"/dev/vdaa9":                    "/dev/vdaa",
		"/var/lib/pool-part1":           "/var/lib/pool-part1",
		"4073388554813144833":           "4073388554813144833",
	} {
		if got := WholeDisk(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
