package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxExpanded limits a document in bytes after its aliases are expanded. It counts the
// bytes of the text and perValue for each value, which needs many times that in memory.
// MaxBytes of ordinary objects fit.
const (
	maxExpanded = 2 * MaxBytes
	perValue    = 16
)

// MaxDocuments limits the documents of a file, because more take minutes.
const MaxDocuments = 10_000

// Document is one document of a file as JSON. It is not empty.
type Document struct {
	// Place is where the document begins: the file, the number of the document, from 1,
	// and its line.
	Place string
	JSON  []byte
}

// Documents splits a file into YAML documents and JSON values, and skips empty ones. The
// content of the file must be as Text returns it. Errors name the place.
func Documents(f File) ([]Document, error) {
	var out []Document
	n, line := 0, 1
	for _, piece := range pieces(f.Content) {
		at := line + leading(piece)
		line += bytes.Count(piece, []byte{'\n'})
		if empty(piece) {
			continue
		}
		if n >= MaxDocuments {
			return nil, fmt.Errorf("%s: more than %d documents; split the file", f.Name, MaxDocuments)
		}
		values, err := convert(piece)
		for _, raw := range values {
			n++
			out = append(out, Document{Place: place(f.Name, n, at), JSON: raw})
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", place(f.Name, n+1, at), err)
		}
	}
	return out, nil
}

func place(file string, n, line int) string {
	return fmt.Sprintf("%s: document %d, at line %d", file, n, line)
}

// pieces splits a text so that each piece but the first begins with a marker. YAML allows
// these markers only at the beginning of a line.
func pieces(content []byte) [][]byte {
	var out [][]byte
	begin, at := 0, 0
	for at < len(content) {
		end := len(content)
		if i := bytes.IndexByte(content[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch line := content[at:end]; {
		case marks(line, "---") && at > begin:
			out, begin = append(out, content[begin:at]), at
		case marks(line, "..."):
			out, begin = append(out, content[begin:end]), end
		}
		at = end
	}
	return append(out, content[begin:])
}

// marks reports whether a line is a marker, alone or with text after a space.
func marks(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || strings.IndexByte(" \t\n", rest[0]) >= 0)
}

// leading returns the number of lines before the content: markers, empty lines, comments.
func leading(piece []byte) int {
	n := 0
	for line := range bytes.Lines(piece) {
		if !blank(line) {
			return n
		}
		n++
	}
	return 0
}

func empty(piece []byte) bool {
	for line := range bytes.Lines(piece) {
		if !blank(line) {
			return false
		}
	}
	return true
}

func blank(line []byte) bool {
	if marks(line, "---") || marks(line, "...") {
		line = line[3:]
	}
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// convert returns a piece as JSON: one value if it is YAML, or all values if it is JSON.
func convert(piece []byte) ([][]byte, error) {
	if body := body(piece); len(body) > 0 && body[0] == '{' {
		if values, isJSON, err := stream(body); isJSON {
			return values, err
		}
	}
	single, err := expanded(piece)
	if err != nil {
		return nil, err
	}
	if single == nil {
		return nil, nil
	}
	raw, err := yaml.YAMLToJSONStrict(piece)
	if err != nil {
		return nil, err
	}
	return [][]byte{raw}, nil
}

// body returns a piece without its marker.
func body(piece []byte) []byte {
	if marks(piece, "---") {
		piece = piece[3:]
	}
	return bytes.TrimSpace(piece)
}

// stream reads JSON objects. isJSON is false if the first one is not JSON, because YAML
// also has objects in braces.
func stream(body []byte) (values [][]byte, isJSON bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return values, true, nil
		} else if err != nil {
			return values, len(values) > 0, fmt.Errorf("after JSON of %d bytes: %w; remove the rest, or begin it with a line of ---", decoder.InputOffset(), err)
		}
		var into any
		strict, err := strictjson.UnmarshalStrict(raw, &into)
		if err == nil && len(strict) > 0 {
			err = errors.Join(strict...)
		}
		if err != nil {
			return values, true, err
		}
		values = append(values, raw)
	}
}

// expanded returns the value of a piece. It rejects a second document in the piece, which
// the library would drop, and aliases that expand beyond the limit.
func expanded(piece []byte) (any, error) {
	decoder := goyaml.NewDecoder(bytes.NewReader(piece))
	var value, second any
	if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("the document contains the beginning of another one; put a line of --- before each document")
	}
	if size(value, maxExpanded) <= 0 {
		return nil, fmt.Errorf("the document exceeds %d MiB after expanding its aliases; make it smaller, or write it without aliases", maxExpanded>>20)
	}
	return value, nil
}

// size subtracts a value from a budget of bytes. It stops when the budget is used up.
func size(value any, left int) int {
	switch v := value.(type) {
	case string:
		return left - len(v) - perValue
	case []any:
		for _, item := range v {
			if left = size(item, left); left <= 0 {
				return left
			}
		}
	case map[any]any:
		for key, item := range v {
			if left = size(item, size(key, left)); left <= 0 {
				return left
			}
		}
	}
	return left - perValue
}
