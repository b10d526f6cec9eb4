package zfs

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// Every value of every property that is a choice, and one that is none.
func TestChoices(t *testing.T) {
	for property, values := range map[string]string{
		"atime":              "on off",
		"canmount":           "on off noauto",
		"checksum":           "on fletcher4 sha256 sha512 skein edonr blake3",
		"compression":        "on off lzjb gzip zle lz4 zstd zstd-fast",
		"copies":             "1 2 3",
		"dnodesize":          "legacy auto 1k 2k 4k 8k 16k",
		"logbias":            "latency throughput",
		"primarycache":       "all none metadata",
		"readonly":           "on off",
		"redundant_metadata": "all most some none",
		"relatime":           "on off",
		"secondarycache":     "all none metadata",
		"sync":               "standard always",
		"xattr":              "on off sa dir",
	} {
		for v := range strings.FieldsSeq(values) {
			if got, err := Canonical(property, v); err != nil || got != v {
				t.Errorf("%s=%s: %q, %v", property, v, got, err)
			}
			for _, bad := range []string{v + " ", " " + v, v + "\x00", strings.ToUpper(v) + "x", "-" + v} {
				if got, err := Canonical(property, bad); !errors.Is(err, ErrInvalid) {
					t.Errorf("%s=%q: %q, %v", property, bad, got, err)
				}
			}
		}
	}
}

// Levels of compression: each that ZFS has, and the ones beside it.
func TestCompressionLevels(t *testing.T) {
	levels := map[string][]int{"gzip": {1, 9}, "zstd": {1, 19}}
	for method, bounds := range levels {
		for level := range 30 {
			value := method + "-" + strconv.Itoa(level)
			_, err := Canonical("compression", value)
			if want := level >= bounds[0] && level <= bounds[1]; want != (err == nil) {
				t.Errorf("%s: %v", value, err)
			}
		}
	}
	fast := 0
	for level := range 1100 {
		if _, err := Canonical("compression", "zstd-fast-"+strconv.Itoa(level)); err == nil {
			fast++
		}
	}
	if fast != 21 { // 1 to 10, 20 to 100, 500, 1000
		t.Errorf("%d fast levels", fast)
	}
}

// Sizes at their bounds and one step beyond.
func TestBounds(t *testing.T) {
	for property, b := range map[string]struct{ least, most uint64 }{
		"recordsize":           {8 << 10, 1 << 20},
		"volblocksize":         {4 << 10, 128 << 10},
		"special_small_blocks": {512, 1 << 20},
	} {
		for n := uint64(1); n <= 1<<24; n <<= 1 {
			for _, size := range []uint64{n, n + 1} {
				value := strconv.FormatUint(size, 10)
				got, err := Canonical(property, value)
				want := size == n && size >= b.least && size <= b.most
				if want != (err == nil) || want && got != value {
					t.Errorf("%s=%s: %q, %v", property, value, got, err)
				}
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "1": 1, "1b": 1, "1k": 1 << 10, "1K": 1 << 10, "1kB": 1 << 10, "1KiB": 1 << 10, "3m": 3 << 20,
		"2G": 2 << 30, "1T": 1 << 40, "1P": 1 << 50, "15E": 15 << 60, "18446744073709551615": 1<<64 - 1, "0E": 0, "007k": 7 << 10,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "k", "-1", "+1", "1.5G", "1 k", "1kk", "1Z", "0x10", "1e3", "16E", "18446744073709551616", "18014398509481984k", "１k",
	} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
