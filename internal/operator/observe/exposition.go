package observe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Bounds of one answer of an instance. Users who may log in to the database as its
// superuser, or choose its image, decide what answers.
const (
	// maxAnswer is how much of an answer is read in search of the families. It is not
	// kept: families of many databases and of custom queries come before those that are
	// read, because CloudNativePG sorts them by name.
	maxAnswer = 8 << 20
	// maxFamily is how much of one family is read, and maxSampleLine the length of one of
	// its lines. PostgreSQL 18 has about 390 settings, in 24 KiB.
	maxFamily     = 256 << 10
	maxSampleLine = 4 << 10
)

// families are the names of those that are read.
var families = []string{settingsMetric, followerMetric, overrideMetric, settingMetric, streamingMetric, behindMetric, delayMetric, timelineMetric, positionMetric, keptMetric, archivedMetric, archivedFile, waitingMetric}

// The errors of an answer. They are constants, because an answer is a tenant's text,
// which belongs in no status, event or log.
var (
	errAnswerTooLong  = errors.New("the metrics exceed 8 MiB")
	errFamilyTooLong  = errors.New("a metric that is read exceeds 256 KiB, or one of its lines 4 KiB")
	errAnswerCutShort = errors.New("the metrics were cut short")
	errMalformed      = errors.New("a metric that is read is not in Prometheus' text format")
)

// exposition reads some families of an answer in Prometheus' text format, and nothing
// after the last of them. It holds one line at a time.
type exposition struct {
	lines *bufio.Reader
	limit *io.LimitedReader
	// inside is the family of the last line, and sizes what was read of each.
	inside string
	sizes  map[string]int
	closed map[string]bool
}

// readAnswer returns what the instance reports, and of its parameters those that are
// wanted. Of samples that occur twice, the last of the family's first group counts.
func readAnswer(r io.Reader, wanted map[string]bool) (*scraped, error) {
	limit := &io.LimitedReader{R: r, N: maxAnswer + 1}
	e := &exposition{limit: limit, lines: bufio.NewReaderSize(limit, maxSampleLine), sizes: map[string]int{}, closed: map[string]bool{}}
	out := &scraped{values: map[string]float64{}}
	for {
		family, line, err := e.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		labels, value, ok := sample(line[len(family):])
		if !ok {
			return nil, errMalformed
		}
		out.take(family, labels, value, wanted)
	}
}

// next is the next sample of a family, valid until the next call; io.EOF ends it.
func (e *exposition) next() (family string, line []byte, err error) {
	for {
		line, whole, err := e.line()
		if err != nil {
			return "", nil, err
		}
		if len(line) == 0 {
			continue
		}
		name := familyOf(line)
		if e.enter(name); len(e.closed) == len(families) {
			return "", nil, io.EOF
		}
		if e.inside == "" {
			continue
		}
		if e.sizes[name] += len(line); !whole || e.sizes[name] > maxFamily {
			return "", nil, errFamilyTooLong
		}
		return name, line, nil
	}
}

// enter the family of a line, where its samples have not ended before: they are in one
// group.
func (e *exposition) enter(name string) {
	if e.inside != "" && name != e.inside {
		e.closed[e.inside] = true
	}
	if e.inside = name; e.closed[name] {
		e.inside = ""
	}
}

// familyOf a line is the name of the family that it is a sample of, of those that are
// read; empty for all others.
func familyOf(line []byte) string {
	for _, name := range families {
		rest, ours := bytes.CutPrefix(line, []byte(name))
		if ours && len(rest) > 0 && (rest[0] == '{' || rest[0] == ' ' || rest[0] == '\t') {
			return name
		}
	}
	return ""
}

// skipped stands for a long line of a family that is not read.
var skipped = []byte("#")

// line is the next line without its end, or as much of it as the buffer holds; the
// rest of a longer one is skipped.
func (e *exposition) line() (line []byte, whole bool, err error) {
	line, err = e.lines.ReadSlice('\n')
	switch {
	case err == nil:
		return bytes.TrimRight(line, "\r\n"), true, nil
	case errors.Is(err, bufio.ErrBufferFull):
		if familyOf(line) != "" {
			return line, false, nil // refused
		}
		return skipped, true, e.skip()
	case e.limit.N <= 0:
		return nil, false, errAnswerTooLong
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, false, io.EOF
	case errors.Is(err, io.EOF):
		return line, true, nil
	}
	return nil, false, errAnswerCutShort
}

// skip the rest of a line.
func (e *exposition) skip() error {
	for {
		_, err := e.lines.ReadSlice('\n')
		switch {
		case err == nil:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case e.limit.N <= 0:
			return errAnswerTooLong
		case errors.Is(err, io.EOF):
			return nil // the next line says so again
		default:
			return errAnswerCutShort
		}
	}
}

// sample reads what follows a metric's name: its labels, its value, and perhaps a time.
func sample(text []byte) (labels map[string]string, value float64, ok bool) {
	rest := strings.TrimLeft(string(text), " \t")
	if strings.HasPrefix(rest, "{") {
		if labels, rest, ok = readLabels(rest[1:]); !ok {
			return nil, 0, false
		}
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return labels, value, err == nil
}

// readLabels returns the labels of a sample, and what follows the closing brace.
func readLabels(text string) (labels map[string]string, rest string, ok bool) {
	labels = map[string]string{}
	for {
		text = strings.TrimLeft(text, " \t,")
		if after, closed := strings.CutPrefix(text, "}"); closed {
			return labels, after, true
		}
		key, quoted, found := strings.Cut(text, "=")
		if !found {
			return nil, "", false
		}
		value, after, ended := unquoted(strings.TrimLeft(quoted, " \t"))
		if !ended {
			return nil, "", false
		}
		labels[strings.TrimSpace(key)] = value
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
