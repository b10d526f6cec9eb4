package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// Key of ConfigMap.binaryData.
	Key = "record.json.gz"
	// MaxEncoded bytes: a ConfigMap holds 1 MiB, and its name and labels.
	MaxEncoded = 900 << 10
	// maxUnpacked bytes of JSON: more would take too much memory to read.
	maxUnpacked = 8 << 20
)

// Encode a record for ConfigMap.binaryData. If the record exceeds MaxEncoded, Encode
// merges lines of Seconds, then drops the latencies, and marks the record. It fails if
// the rest still exceeds MaxEncoded.
func Encode(r Record) (map[string][]byte, error) {
	r.Version = Version
	if len(r.Runs) > MaxRuns {
		return nil, fmt.Errorf("a record holds at most %d runs, not %d", MaxRuns, len(r.Runs))
	}
	for {
		packed, unpacked, err := pack(r)
		if err != nil {
			return nil, err
		}
		if len(packed) <= MaxEncoded && unpacked <= maxUnpacked {
			return map[string][]byte{Key: packed}, nil
		}
		thinner, ok := r.thinner()
		if !ok {
			return nil, fmt.Errorf("the record takes %d bytes, more than the %d that a ConfigMap has room for", len(packed), MaxEncoded)
		}
		r = thinner
	}
}

func pack(r Record) (packed []byte, unpacked int, err error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, 0, fmt.Errorf("encode record: %w", err)
	}
	var to bytes.Buffer
	z := gzip.NewWriter(&to)
	if _, err := z.Write(raw); err != nil {
		return nil, 0, fmt.Errorf("pack record: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, 0, fmt.Errorf("pack record: %w", err)
	}
	return to.Bytes(), len(raw), nil
}

// Decode what Encode made, wherever it comes from. Another Version is refused.
func Decode(data map[string][]byte) (Record, error) {
	r, err := decode(data)
	if err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	return r, nil
}

func decode(data map[string][]byte) (Record, error) {
	packed, ok := data[Key]
	if !ok {
		return Record{}, fmt.Errorf("there is no key %s", Key)
	}
	raw, err := unpack(packed)
	if err != nil {
		return Record{}, err
	}
	// The version first: the rest may not be of this form.
	var version struct{ Version int }
	if err := json.Unmarshal(raw, &version); err != nil {
		return Record{}, err
	}
	if version.Version != Version {
		return Record{}, fmt.Errorf("version %d is not supported, want %d", version.Version, Version)
	}
	if err := fewRuns(raw); err != nil {
		return Record{}, err
	}
	var r Record
	return r, json.Unmarshal(raw, &r)
}

func unpack(packed []byte) ([]byte, error) {
	if len(packed) > MaxEncoded {
		return nil, fmt.Errorf("%d bytes are more than %d", len(packed), MaxEncoded)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxUnpacked {
		return nil, fmt.Errorf("the unpacked record exceeds %d bytes", maxUnpacked)
	}
	return raw, z.Close()
}

// errManyRuns is a record that no benchmark made.
var errManyRuns = fmt.Errorf("the record has more than %d runs", MaxRuns)

// counted is a list of which only the length matters. An empty run takes 3 bytes of
// text and 200 times as many in memory.
type counted int

// UnmarshalJSON counts and forgets.
func (c *counted) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	start, err := d.Token()
	if err != nil || start != json.Delim('[') {
		// The decoder of the value reports another type.
		return err
	}
	for ; d.More(); *c++ {
		if *c >= MaxRuns {
			return errManyRuns
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	return nil
}

func fewRuns(raw []byte) error {
	var r struct{ Runs, Layers counted }
	err := json.Unmarshal(raw, &r)
	if errors.Is(err, errManyRuns) {
		return errManyRuns
	}
	return err
}
