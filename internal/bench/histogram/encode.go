package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// MaxEncoded is the length in bytes of the longest text that is decoded. A run's
// latencies take 1 to 12 kB.
const MaxEncoded = 128 << 10

// The text is HdrHistogram's own, which other tools read too. It is base64 of a cookie, a
// length and zlib's stream of a header and the counts
// (https://github.com/HdrHistogram/HdrHistogram/blob/master/src/main/java/org/HdrHistogram/AbstractHistogram.java).
const (
	cookie           = uint32(hdrhistogram.V2EncodingCookieBase) | 0x10
	compressedCookie = uint32(hdrhistogram.V2CompressedEncodingCookieBase) | 0x10
	outerHeader      = 8
	// longestCount in bytes: up to here HdrHistogram's variable-length integers
	// are those of encoding/binary.
	longestCount = 8
	// longestPayload is a header and a count of every bucket.
	longestPayload = hdrhistogram.ENCODING_HEADER_SIZE + longestCount*buckets
)

// MarshalText encodes the counts, for a ConfigMap; for a status, which is read with
// every list, there is Curve.
func (h *Histogram) MarshalText() ([]byte, error) {
	text, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode latencies: %w", err)
	}
	return text, nil
}

// UnmarshalText decodes what MarshalText encoded, of this package's shape only. The text is
// untrusted: UnmarshalText checks its bounds before it unpacks it, and rejects all of it when
// any part is wrong.
func (h *Histogram) UnmarshalText(text []byte) error {
	counts, err := decode(text)
	if err != nil {
		return fmt.Errorf("decode latencies: %w", err)
	}
	h.h = hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: lowest, HighestTrackableValue: highest, SignificantFigures: digits, Counts: counts,
	})
	return nil
}

func decode(text []byte) ([]int64, error) {
	if len(text) > MaxEncoded {
		return nil, fmt.Errorf("%d bytes are more than %d", len(text), MaxEncoded)
	}
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, err
	}
	if len(raw) < outerHeader || binary.BigEndian.Uint32(raw) != compressedCookie {
		return nil, errors.New("not a compressed HdrHistogram of version 2")
	}
	if int64(binary.BigEndian.Uint32(raw[4:])) != int64(len(raw)-outerHeader) {
		return nil, errors.New("the length is not the stated one")
	}
	payload, err := inflate(raw[outerHeader:])
	if err != nil {
		return nil, err
	}
	if err := checkHeader(payload); err != nil {
		return nil, err
	}
	return decodeCounts(payload[hdrhistogram.ENCODING_HEADER_SIZE:])
}

// inflate a stream no further than the largest histogram is.
func inflate(stream []byte) ([]byte, error) {
	from := bytes.NewReader(stream)
	z, err := zlib.NewReader(from)
	if err != nil {
		return nil, err
	}
	payload, err := io.ReadAll(io.LimitReader(z, longestPayload+1))
	if err != nil {
		return nil, err
	}
	if len(payload) > longestPayload || from.Len() > 0 {
		return nil, fmt.Errorf("unpacked, it exceeds %d bytes or has trailing data", longestPayload)
	}
	return payload, z.Close()
}

// header of the counts, as it lies in the stream.
type header struct {
	Cookie, Length, Offset, Digits uint32
	Lowest, Highest                int64
	Ratio                          float64
}

func checkHeader(payload []byte) error {
	var got header
	if _, err := binary.Decode(payload, binary.BigEndian, &got); err != nil {
		return errors.New("the header is cut off")
	}
	want := header{
		Cookie: cookie, Length: uint32(len(payload) - hdrhistogram.ENCODING_HEADER_SIZE), //nolint:gosec // G115: bounded by inflate
		Digits: digits, Lowest: lowest, Highest: highest, Ratio: got.Ratio,
	}
	if got != want {
		return fmt.Errorf("the shape is not %d to %d microseconds with %d digits", lowest, highest, digits)
	}
	return nil
}

// decodeCounts reads counts; a number below zero is a run of empty buckets.
func decodeCounts(payload []byte) ([]int64, error) {
	counts := make([]int64, buckets)
	next, total := int64(0), int64(0)
	for len(payload) > 0 {
		n, length := binary.Varint(payload)
		if length <= 0 || length > longestCount {
			return nil, errors.New("a count is cut off or too large")
		}
		payload = payload[length:]
		width := int64(1)
		if n < 0 {
			// Of at most eight bytes, so -n cannot overflow.
			width, n = -n, 0
		}
		if width > buckets-next || n > most-total {
			return nil, errors.New("there are more buckets or latencies than a histogram holds")
		}
		counts[next] = n
		next, total = next+width, total+n
	}
	return counts, nil
}
