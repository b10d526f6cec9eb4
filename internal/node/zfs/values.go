package zfs

import (
	"errors"
	"fmt"
	"math/bits"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of sizes, in bytes.
const (
	// PageSize of Postgres: a record must hold whole pages.
	PageSize = 8 << 10
	// maxRecord without changing the module's zfs_max_recordsize on releases before 2.2.
	maxRecord      = 1 << 20
	minVolBlock    = 4 << 10
	maxVolBlock    = 128 << 10
	minSmallBlock  = 512
	maxSmallBlock  = 1 << 20
	minAsh, maxAsh = 9, 16
)

func oneOf(allowed ...string) parser {
	return func(v string) (string, error) {
		if slices.Contains(allowed, v) {
			return v, nil
		}
		return "", fmt.Errorf("unknown value; use %s", strings.Join(allowed, ", "))
	}
}

func only(allowed, why string) parser {
	return func(v string) (string, error) {
		if v == allowed {
			return v, nil
		}
		return "", fmt.Errorf("refused: %s; use %s", why, allowed)
	}
}

func syncWrites(v string) (string, error) {
	if v == "disabled" {
		return "", errors.New("refused: commits would be acknowledged before they are stable; use standard or always")
	}
	return oneOf("standard", "always")(v)
}

func checksum(v string) (string, error) {
	if v == "off" {
		return "", errors.New("refused: damage would go unseen and torn pages with it; use on")
	}
	return oneOf("on", "fletcher4", "sha256", "sha512", "skein", "edonr", "blake3")(v)
}

var leveled = regexp.MustCompile(`^(gzip|zstd|zstd-fast)-([1-9]\d{0,3})$`)

// compression prints gzip-6 as gzip, and zstd-fast-1 as zstd-fast: they are one.
func compression(v string) (string, error) {
	plain := []string{"on", "off", "lzjb", "gzip", "zle", "lz4", "zstd", "zstd-fast"}
	if slices.Contains(plain, v) {
		return v, nil
	}
	if m := leveled.FindStringSubmatch(v); m != nil {
		level, _ := strconv.Atoi(m[2])
		switch {
		case v == "gzip-6" || v == "zstd-fast-1":
			return m[1], nil
		case m[1] == "gzip" && level <= 9, m[1] == "zstd" && level <= 19, m[1] == "zstd-fast" && fastLevel(level):
			return v, nil
		}
	}
	return "", fmt.Errorf("unknown value; use %s, gzip-1 to gzip-9, zstd-1 to zstd-19, or zstd-fast-N",
		strings.Join(plain, ", "))
}

// fastLevel: 1 to 10, tens to 100, 500 and 1000.
func fastLevel(n int) bool {
	return n <= 10 || n <= 100 && n%10 == 0 || n == 500 || n == 1000
}

var sized = regexp.MustCompile(`^(\d{1,20})([kKmMgGtTpPeE]?)(?:[iI]?[bB])?$`)

// ParseSize of ZFS's notation, such as 8192, 8k, 8K or 8KiB: 1024 to the power.
func ParseSize(s string) (uint64, error) {
	m := sized.FindStringSubmatch(s)
	if m == nil {
		return 0, errors.New("not a size; write it as 8192, 8k or 10G")
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		return 0, errors.New("does not fit 64 bits")
	}
	shift := 0
	if m[2] != "" {
		shift = 10 * (1 + strings.Index("kmgtpe", strings.ToLower(m[2])))
	}
	if n<<shift>>shift != n {
		return 0, errors.New("does not fit 64 bits")
	}
	return n << shift, nil
}

func bytesOf(canonical string) uint64 {
	n, _ := strconv.ParseUint(canonical, 10, 64)
	return n
}

func powerOfTwo(least, most uint64) parser {
	return func(v string) (string, error) {
		n, err := ParseSize(v)
		switch {
		case err != nil:
			return "", err
		case bits.OnesCount64(n) != 1 || n < least || n > most:
			return "", fmt.Errorf("must be a power of two from %d to %d bytes", least, most)
		}
		return strconv.FormatUint(n, 10), nil
	}
}

func recordsize(v string) (string, error) {
	if n, err := ParseSize(v); err == nil && n < PageSize {
		return "", fmt.Errorf("refused: smaller than the page of Postgres, which then spans two records; use %d or more", PageSize)
	}
	return powerOfTwo(PageSize, maxRecord)(v)
}

func smallBlocks(v string) (string, error) {
	if n, err := ParseSize(v); err == nil && n == 0 {
		return "0", nil
	}
	out, err := powerOfTwo(minSmallBlock, maxSmallBlock)(v)
	if err != nil {
		return "", fmt.Errorf("%w, or 0 for none", err)
	}
	return out, nil
}

// sizeOrNone: "none" is printed as 0.
func sizeOrNone(v string) (string, error) {
	if v == "none" {
		return "0", nil
	}
	n, err := ParseSize(v)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(n, 10), nil
}

func sizeAboveZero(v string) (string, error) {
	n, err := ParseSize(v)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", errors.New("a volume has a size; use more than 0")
	}
	return strconv.FormatUint(n, 10), nil
}

func mountpoint(v string) (string, error) {
	if v == "none" || v == "legacy" {
		return v, nil
	}
	return cleanPath(v, "use none, legacy or a full path")
}

func cachefile(v string) (string, error) {
	if v == "none" {
		return v, nil
	}
	return cleanPath(v, "use none or a full path")
}

func cleanPath(v, remedy string) (string, error) {
	if !path.IsAbs(v) || path.Clean(v) != v || v == "/" || strings.ContainsAny(v, "\t\n\x00") {
		return "", fmt.Errorf("not a clean path; %s", remedy)
	}
	return v, nil
}

func ashift(v string) (string, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < minAsh || n > maxAsh {
		return "", fmt.Errorf("the power of two of a sector; use %d to %d, such as 12 for 4k", minAsh, maxAsh)
	}
	return strconv.Itoa(n), nil
}

var featureSets = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(,[a-z0-9][a-z0-9._-]*)*$`)

func compatibility(v string) (string, error) {
	if !featureSets.MatchString(v) {
		return "", errors.New("unknown form; use off, legacy or names of feature sets such as openzfs-2.1-linux")
	}
	return v, nil
}
