package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func text(t testing.TB, h *Histogram) string {
	t.Helper()
	out, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestShape(t *testing.T) {
	if got := len(New().h.Export().Counts); got != buckets {
		t.Errorf("%d buckets, not %d", got, buckets)
	}
}

func TestRoundTrip(t *testing.T) {
	for name, h := range map[string]*Histogram{
		"empty": New(), "zero": of(t, 0), "one": of(t, 1), "longest": of(t, highest), "many": of(t, lognormal(3, 50000)...),
	} {
		encoded, err := json.Marshal(struct{ Latencies *Histogram }{h})
		if err != nil {
			t.Fatal(err)
		}
		var back struct{ Latencies *Histogram }
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text(t, back.Latencies) != text(t, h) || back.Latencies.Count() != h.Count() || back.Latencies.Percentile(99) != h.Percentile(99) {
			t.Errorf("%s: not the same after a round trip", name)
		}
		// What other tools read is what was meant.
		theirs, err := hdrhistogram.Decode([]byte(text(t, h)))
		if err != nil || !theirs.Equals(h.h) {
			t.Errorf("%s: the library reads something else: %v", name, err)
		}
	}
}

// A million latencies over four decades stay small enough for a ConfigMap of a
// matrix of dozens of variants.
func TestEncodedSize(t *testing.T) {
	if got := len(text(t, of(t, lognormal(4, 1000000)...))); got > 12<<10 {
		t.Errorf("%d bytes", got)
	}
	full := New()
	for i := range int64(buckets) {
		if err := full.h.RecordValues(min(highest, valueOf(i)), 1+i%1000); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(text(t, full)); got > MaxEncoded {
		t.Errorf("a histogram with every bucket used takes %d bytes, more than are decoded", got)
	}
}

// valueOf is a value of a bucket.
func valueOf(i int64) int64 {
	if i < 2048 {
		return i
	}
	return (1024 + i%1024) << (i/1024 - 1)
}

// pack a header and payload as MarshalText does.
func pack(t testing.TB, h header, payload []byte) string {
	t.Helper()
	var plain, packed bytes.Buffer
	if err := binary.Write(&plain, binary.BigEndian, h); err != nil {
		t.Fatal(err)
	}
	plain.Write(payload)
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(plain.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	raw := binary.BigEndian.AppendUint32(nil, compressedCookie)
	raw = binary.BigEndian.AppendUint32(raw, uint32(packed.Len()))
	return base64.StdEncoding.EncodeToString(append(raw, packed.Bytes()...))
}

func TestDecodeRefuses(t *testing.T) {
	good := func(n int) header {
		return header{Cookie: cookie, Length: uint32(n), Digits: digits, Lowest: lowest, Highest: highest, Ratio: 1}
	}
	varints := func(values ...int64) (out []byte) {
		for _, v := range values {
			out = binary.AppendVarint(out, v)
		}
		return out
	}
	other := func(change func(*header)) string {
		h := good(1)
		change(&h)
		return pack(t, h, []byte{2})
	}
	runs := varints(-1<<54, -1<<54)
	for want, in := range map[string]string{
		"illegal base64":       "***",
		"not a compressed":     "AAAA",
		"not the stated one":   base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, compressedCookie), 0, 0, 1, 0)),
		"zlib":                 base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, compressedCookie), 0, 0, 0, 2, 1, 2)),
		"more than 131072":     strings.Repeat("A", MaxEncoded+1),
		"unpacked, it exceeds": pack(t, good(1<<23), make([]byte, 1<<23)),
		"the header is cut off": func() string {
			raw, _ := base64.StdEncoding.DecodeString(pack(t, good(0), nil))
			var short bytes.Buffer
			z := zlib.NewWriter(&short)
			_, _ = z.Write(make([]byte, 39))
			_ = z.Close()
			raw = binary.BigEndian.AppendUint32(raw[:4], uint32(short.Len()))
			return base64.StdEncoding.EncodeToString(append(raw, short.Bytes()...))
		}(),
		"with 3 digits":          other(func(h *header) { h.Digits = 5 }),
		"1 to 86400000000":       other(func(h *header) { h.Highest = math.MaxInt64 }),
		"microseconds":           other(func(h *header) { h.Length = 2 }),
		"cut off or too large":   pack(t, good(1), []byte{0x80}),
		"or too large":           pack(t, good(9), bytes.Repeat([]byte{0xff}, 9)),
		"more buckets":           pack(t, good(len(runs)), runs),
		"latencies than a histo": pack(t, good(8), varints(1<<54)),
	} {
		var h Histogram
		if err := h.UnmarshalText([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if h.h != nil {
			t.Errorf("%s: something was decoded", want)
		}
	}
}

// A decoded text is a histogram whose figures ascend and that encodes again; every other text
// is an error.
func FuzzDecode(f *testing.F) {
	for _, values := range [][]int64{nil, {0}, {1, 2, 3}, {highest}, lognormal(5, 1000)} {
		h := New()
		for _, v := range values {
			if err := h.Record(v); err != nil {
				f.Fatal(err)
			}
		}
		f.Add([]byte(text(f, h)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var h Histogram
		if err := h.UnmarshalText(in); err != nil {
			return
		}
		check(t, &h)
	})
}

// The counts are behind compression, where a fuzzer finds nothing: they are
// fuzzed without it.
func FuzzDecodeCounts(f *testing.F) {
	f.Add([]byte{2, 3, 2})
	f.Add(bytes.Repeat([]byte{0xff}, 9))
	f.Add(binary.AppendVarint(binary.AppendVarint(nil, -1<<54), -1<<54))
	f.Fuzz(func(t *testing.T, payload []byte) {
		counts, err := decodeCounts(payload)
		if err != nil {
			return
		}
		check(t, &Histogram{hdrhistogram.Import(&hdrhistogram.Snapshot{
			LowestTrackableValue: lowest, HighestTrackableValue: highest, SignificantFigures: digits, Counts: counts,
		})})
	})
}

func check(t *testing.T, h *Histogram) {
	t.Helper()
	last := -1.0
	for _, p := range h.Curve() {
		if p.Latency < last {
			t.Fatalf("the curve falls at %v", p)
		}
		last = p.Latency
	}
	if h.Count() < 0 || h.Count() > most {
		t.Fatalf("count %d", h.Count())
	}
	var again Histogram
	if err := again.UnmarshalText([]byte(text(t, h))); err != nil || again.Count() != h.Count() || again.Max() != h.Max() {
		t.Fatalf("not the same after a round trip: %v", err)
	}
}
