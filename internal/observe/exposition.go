package observe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Bounds of one answer of an instance. Whoever may log in to the database as its
// superuser, or chooses its image, decides what answers.
const (
	// maxAnswer is how much of an answer is read in search of the family. It is not
	// kept: families of many databases and of custom queries come before the one that is
	// read, because CloudNativePG sorts them by name.
	maxAnswer = 8 << 20
	// maxFamily is how much of the family itself is read, and maxSampleLine the length of
	// one of its lines. PostgreSQL 18 has about 390 settings, in 24 KiB.
	maxFamily     = 256 << 10
	maxSampleLine = 4 << 10
)

// The errors of an answer. They are constants, because an answer is a tenant's text,
// which belongs in no status, event or log.
var (
	errAnswerTooLong  = errors.New("the metrics exceed 8 MiB before " + settingsMetric)
	errFamilyTooLong  = errors.New("the metric " + settingsMetric + " exceeds 256 KiB, or one of its lines 4 KiB")
	errAnswerCutShort = errors.New("the metrics were cut short")
	errMalformed      = errors.New("the metric " + settingsMetric + " is not in Prometheus' text format")
)

// family reads one family of an exposition in Prometheus' text format, and nothing
// after it. It holds one line at a time.
type family struct {
	name   string
	lines  *bufio.Reader
	limit  *io.LimitedReader
	size   int
	inside bool
}

// readSettings returns the value of each wanted setting that an exposition has. Of
// settings that occur twice, the last counts.
func readSettings(r io.Reader, wanted map[string]bool) (map[string]float64, error) {
	limit := &io.LimitedReader{R: r, N: maxAnswer + 1}
	f := &family{name: settingsMetric, limit: limit, lines: bufio.NewReaderSize(limit, maxSampleLine)}
	out := map[string]float64{}
	for {
		line, err := f.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		name, value, ok := sample(line[len(f.name):])
		if !ok {
			return nil, errMalformed
		}
		if wanted[name] {
			out[name] = value
		}
	}
}

// next is the next sample of the family, valid until the next call; io.EOF ends it.
func (f *family) next() ([]byte, error) {
	for {
		line, whole, err := f.line()
		if err != nil {
			return nil, err
		}
		rest, ours := bytes.CutPrefix(line, []byte(f.name))
		switch ours = ours && len(rest) > 0 && (rest[0] == '{' || rest[0] == ' ' || rest[0] == '\t'); {
		case ours:
			f.inside, f.size = true, f.size+len(line)
			if !whole || f.size > maxFamily {
				return nil, errFamilyTooLong
			}
			return line, nil
		case f.inside && len(line) > 0:
			return nil, io.EOF // samples of a family are in one group
		}
	}
}

// line is the next line without its end, or as much of it as the buffer holds; the
// rest of a longer one is skipped.
func (f *family) line() (line []byte, whole bool, err error) {
	line, err = f.lines.ReadSlice('\n')
	switch {
	case err == nil:
		return bytes.TrimRight(line, "\r\n"), true, nil
	case errors.Is(err, bufio.ErrBufferFull):
		if f.inside || bytes.HasPrefix(line, []byte(f.name)) {
			return line, false, nil // refused, or the end of the family
		}
		return nil, false, f.skip()
	case f.limit.N <= 0:
		return nil, false, errAnswerTooLong
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, false, io.EOF
	case errors.Is(err, io.EOF):
		return line, true, nil
	}
	return nil, false, errAnswerCutShort
}

// skip the rest of a line.
func (f *family) skip() error {
	for {
		_, err := f.lines.ReadSlice('\n')
		switch {
		case err == nil:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case f.limit.N <= 0:
			return errAnswerTooLong
		case errors.Is(err, io.EOF):
			return nil // the next line says so again
		default:
			return errAnswerCutShort
		}
	}
}

// sample reads what follows a metric's name: its labels, of which name is returned,
// its value, and perhaps a time.
func sample(text []byte) (name string, value float64, ok bool) {
	rest := strings.TrimLeft(string(text), " \t")
	if strings.HasPrefix(rest, "{") {
		if name, rest, ok = labelsOf(rest[1:]); !ok {
			return "", 0, false
		}
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return name, value, err == nil
}

// labelsOf returns the value of the label name, and what follows the closing brace.
func labelsOf(text string) (name, rest string, ok bool) {
	for {
		text = strings.TrimLeft(text, " \t,")
		if after, closed := strings.CutPrefix(text, "}"); closed {
			return name, after, true
		}
		key, quoted, found := strings.Cut(text, "=")
		if !found {
			return "", "", false
		}
		value, after, ended := unquoted(strings.TrimLeft(quoted, " \t"))
		if !ended {
			return "", "", false
		}
		if strings.TrimSpace(key) == "name" {
			name = value
		}
		text = after
	}
}

// unquoted reads a label's value with its quotes, and returns what follows.
func unquoted(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
