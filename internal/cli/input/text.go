package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Byte order marks, which name the encoding of a text.
var (
	markUTF8    = []byte{0xEF, 0xBB, 0xBF}
	markUTF16LE = []byte{0xFF, 0xFE}
	markUTF16BE = []byte{0xFE, 0xFF}
	markUTF32LE = []byte{0xFF, 0xFE, 0, 0}
	markUTF32BE = []byte{0, 0, 0xFE, 0xFF}
)

const remedy = "save it as UTF-8"

// Text returns content in UTF-8 without a byte order mark, with line feeds as line ends.
// It decodes UTF-16 with a mark, as PowerShell writes it. It rejects any other encoding,
// because a guess can read other characters than the file has.
func Text(content []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(content, markUTF32LE), bytes.HasPrefix(content, markUTF32BE):
		return nil, errors.New("the text is encoded as UTF-32; " + remedy)
	case bytes.HasPrefix(content, markUTF16LE):
		return decoded(content[2:], binary.LittleEndian)
	case bytes.HasPrefix(content, markUTF16BE):
		return decoded(content[2:], binary.BigEndian)
	}
	return plain(bytes.TrimPrefix(content, markUTF8))
}

// decoded decodes UTF-16.
func decoded(content []byte, order binary.ByteOrder) ([]byte, error) {
	if len(content)%2 != 0 {
		return nil, errors.New("the UTF-16 text ends within a character; " + remedy)
	}
	units := make([]uint16, 0, len(content)/2)
	for ; len(content) > 0; content = content[2:] {
		units = append(units, order.Uint16(content))
	}
	out := make([]byte, 0, len(units))
	for _, r := range utf16.Decode(units) {
		if r == utf8.RuneError {
			return nil, errors.New("the text is not valid UTF-16; " + remedy)
		}
		out = utf8.AppendRune(out, r)
	}
	return plain(out)
}

// plain returns UTF-8 with line feeds. YAML also ends lines at a carriage return; plain
// replaces them by line feeds, so that a marker between documents is found on any line.
func plain(content []byte) ([]byte, error) {
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return nil, fmt.Errorf("line %d: the text contains a NUL byte: it is binary, or UTF-16 without a byte order mark; %s", 1+bytes.Count(content[:i], []byte{'\n'}), remedy)
	}
	if !utf8.Valid(content) {
		return nil, fmt.Errorf("line %d: the text is not valid UTF-8; %s", 1+bytes.Count(content[:invalid(content)], []byte{'\n'}), remedy)
	}
	if bytes.IndexByte(content, '\r') < 0 {
		return content, nil
	}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(content, []byte("\r"), []byte("\n")), nil
}

// invalid returns the offset of the first byte that is not UTF-8.
func invalid(content []byte) int {
	at := 0
	for at < len(content) {
		r, size := utf8.DecodeRune(content[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
	return at
}
