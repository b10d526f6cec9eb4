package pgbench

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds one line of output: pgbench cuts none of its statements.
const maxLine = 1 << 20

// Parse reads what pgbench printed on stdout. Lines that it does not know are
// kept in Unknown; a line that it knows and cannot read is a *LineError.
// A run in which no transaction ended has a Result without TPS and no error.
func Parse(r io.Reader) (*Result, error) {
	p := &parser{result: &Result{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimRight(lines.Text(), "\r")
		if err := p.line(text); err != nil {
			return nil, &LineError{Line: n, Text: text, Err: err}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read pgbench's report: %w", err)
	}
	if p.result.Script == "" {
		return nil, ErrNoReport
	}
	return p.result, nil
}

type parser struct {
	result *Result
	// script is the section that the line stands in; nil above all sections.
	script *Script
	// columns of integers between latency and SQL of a statement; -1 outside a
	// list of statements.
	columns int
	listing bool
}

func (p *parser) line(text string) error {
	if text == "" {
		return nil
	}
	if p.listing && strings.HasPrefix(text, "    ") {
		return p.statement(text)
	}
	p.listing = false
	if name, ok := strings.CutPrefix(text, "SQL script "); ok {
		return p.section(name)
	}
	item, inSection := strings.CutPrefix(text, " - ")
	if columns, ok := statementColumns(item); ok {
		p.columns, p.listing = columns, true
		return nil
	}
	known, err := p.item(item, inSection && p.script != nil)
	if !known {
		p.result.Unknown = append(p.result.Unknown, text)
	}
	return err
}

func (p *parser) item(item string, inSection bool) (known bool, err error) {
	if inSection {
		return p.scriptItem(item)
	}
	for _, rule := range rules {
		if value, ok := strings.CutPrefix(item, rule.prefix); ok {
			return true, rule.read(p.result, value)
		}
	}
	if known, err := counts(&p.result.Counts, item); known {
		return true, err
	}
	return latency(&p.result.Latency, item)
}

func (p *parser) scriptItem(item string) (known bool, err error) {
	if value, ok := strings.CutPrefix(item, "weight: "); ok {
		return true, scan(value, &p.script.Weight)
	}
	if known, err := counts(&p.script.Counts, item); known {
		return true, err
	}
	if known, err := latency(&p.script.Latency, item); known {
		return true, err
	}
	return scriptTransactions(p.script, item)
}

// section begins "SQL script 2: name".
func (p *parser) section(rest string) error {
	number, name, ok := strings.Cut(rest, ": ")
	var n int
	if err := scan(number, &n); err != nil || !ok {
		return fmt.Errorf("want \"SQL script N: name\"")
	}
	p.result.Scripts = append(p.result.Scripts, Script{Name: name})
	p.script = &p.result.Scripts[len(p.result.Scripts)-1]
	return nil
}

// statementColumns says how many integers stand between latency and SQL in the
// list under a heading. PostgreSQL 14 printed neither failures nor retries.
func statementColumns(item string) (int, bool) {
	switch item {
	case "statement latencies in milliseconds:":
		return 0, true
	case "statement latencies in milliseconds and failures:":
		return 1, true
	case "statement latencies in milliseconds, failures and retries:":
		return 2, true
	}
	return 0, false
}

func (p *parser) statement(text string) error {
	var s Statement
	into := []any{&s.LatencyMs, &s.Failures, &s.Retries}[:1+p.columns]
	rest := text
	for _, v := range into {
		var field string
		field, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		if err := scan(field, v); err != nil {
			return fmt.Errorf("want latency, %d counts and a statement: %w", p.columns, err)
		}
	}
	s.SQL = strings.TrimSpace(rest)
	if p.script != nil {
		p.script.Statements = append(p.script.Statements, s)
	} else {
		p.result.Statements = append(p.result.Statements, s)
	}
	return nil
}
