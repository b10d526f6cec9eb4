package supervise

import (
	"bytes"
	"io"
	"strings"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// maxLine in bytes that is passed on; the rest of a longer one is dropped, because
	// a secret could lie across a seam.
	maxLine = 64 << 10
	// maxSaid in bytes that is kept of an error.
	maxSaid = 4 << 10
)

// lines passes a program's output on, line by line and without secrets. What cannot
// be written is lost, so that a reader of the log who went away stops no server.
type lines struct {
	to   io.Writer
	hide zerofs.Secrets
	// see receives each line; nil: no receiver.
	see  func(string)
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	written := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte{'\n'})
		l.part = append(l.part, line[:min(len(line), maxLine-len(l.part))]...)
		if !found {
			return written, nil
		}
		l.emit()
		p = rest
	}
}

// Close passes on what no line break ended.
func (l *lines) Close() error {
	if len(l.part) > 0 {
		l.emit()
	}
	return nil
}

func (l *lines) emit() {
	text := l.hide.Hide(string(l.part))
	l.part = l.part[:0]
	if l.see != nil {
		l.see(text)
	}
	_, _ = io.WriteString(l.to, text+"\n")
}

// diagnosis keeps the error that a program ends with. It is what Rust's anyhow prints
// from "Error: " to the backtrace, or a panic, or else the last line.
type diagnosis struct {
	last string
	// logged is the last line of the log of its level ERROR.
	logged  string
	error   strings.Builder
	reading bool
}

func (d *diagnosis) line(text string) {
	text = zerofs.Plain(text)
	switch {
	case text == "":
		return
	case strings.HasPrefix(text, "Error: "), strings.HasPrefix(text, "thread '") && strings.Contains(text, "panicked at"):
		d.reading = true
		d.error.Reset()
	case strings.HasPrefix(text, "Stack backtrace:"), strings.HasPrefix(text, "stack backtrace:"), strings.HasPrefix(text, "note: run with"):
		d.reading = false
		return
	}
	d.last = text
	if !d.reading && strings.Contains(text, " ERROR ") {
		d.logged = text[:min(len(text), maxSaid)]
	}
	if d.reading && d.error.Len() < maxSaid {
		d.error.WriteString(text + " ")
	}
}

// said at the end, on one line.
func (d *diagnosis) said() string {
	if d.error.Len() > 0 {
		return strings.TrimPrefix(strings.TrimSpace(d.error.String()), "Error: ")
	}
	return d.last
}

// explain the end. Where the error itself says nothing, as the "I/O error" of a last
// flush, what was logged before it does.
func (d *diagnosis) explain(hide zerofs.Secrets) *zerofs.Failure {
	f := zerofs.Explain(d.said(), hide)
	if f.Reason == zerofs.ReasonServerFailed && d.logged != "" && d.logged != d.last {
		return zerofs.Explain(d.said()+"; logged before: "+d.logged, hide)
	}
	return f
}
