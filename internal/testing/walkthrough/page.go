// Package walkthrough reads the commands of a tutorial and the output that the page shows. It runs
// them as a reader would, and compares the shape of what they print.
package walkthrough

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// Page is a file below the root of the repository.
type Page struct {
	Name   string
	Source string
	Blocks []Block
}

// Block is a fenced block of a page.
type Block struct {
	// Line is the line of its first command or text.
	Line int
	// Language is what follows the fence, as sh, console or yaml.
	Language string
	// Needs names what the commands need, from a comment before the block:
	// <!-- needs: NAME -->. It is empty where a kind cluster is enough.
	Needs string
	// Heading is the heading above.
	Heading string
	Text    string
}

// Before returns the part of a page before the blocks of a heading, and the rest.
func (p Page) Before(heading string) (before, rest Page) {
	at := slices.IndexFunc(p.Blocks, func(b Block) bool { return b.Heading == heading })
	if at < 0 {
		at = len(p.Blocks)
	}
	return Page{p.Name, p.Source, p.Blocks[:at]}, Page{p.Name, p.Source, p.Blocks[at:]}
}

// Step is a command, with the output that the page shows, if any.
type Step struct {
	Line            int
	Command, Output string
}

var marker = regexp.MustCompile(`^<!--\s*needs:\s*([a-z0-9-]+)\s*-->\s*$`)

// Read reads a page of the repository.
func Read(name string) (Page, error) {
	source, err := os.ReadFile(filepath.Join(repository.Root(), name))
	if err != nil {
		return Page{}, err
	}
	return Parse(name, string(source))
}

// Parse reads the blocks of a page.
func Parse(name, source string) (Page, error) {
	p, content, heading := Page{Name: name, Source: source}, []byte(source), ""
	err := ast.Walk(goldmark.New().Parser().Parse(text.NewReader(content)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok {
			heading = raw(h, content)
		}
		fence, ok := n.(*ast.FencedCodeBlock)
		if !ok || !entering || fence.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		first := fence.Lines().At(0).Start
		b := Block{Line: 1 + strings.Count(source[:first], "\n"), Language: string(fence.Language(content)), Heading: heading, Text: raw(fence, content)}
		if before, ok := n.PreviousSibling().(*ast.HTMLBlock); ok {
			if m := marker.FindStringSubmatch(strings.TrimSpace(raw(before, content))); m != nil {
				b.Needs = m[1]
			}
		}
		p.Blocks = append(p.Blocks, b)
		return ast.WalkContinue, nil
	})
	return p, err
}

// raw text of the lines of a block.
func raw(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

// Commands reports whether readers type the block. A block in sh is one script without output; a
// block in console has prompts.
func (b Block) Commands() bool { return b.Language == "sh" || b.Language == "console" }

// Steps returns the commands of the block in their order.
func (b Block) Steps() []Step {
	if b.Language == "sh" {
		return []Step{{Line: b.Line, Command: b.Text}}
	}
	var steps []Step
	open := "" // the word that ends a here-document
	lines := strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n")
	for i, line := range lines {
		last := len(steps) - 1
		command, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case open == "" && prompt:
			steps = append(steps, Step{Line: b.Line + i, Command: command + "\n"})
			open = hereDocument(command)
		case last < 0:
			steps = append(steps, Step{Line: b.Line + i, Output: line + "\n"}) // no command: run refuses it
		case open != "":
			steps[last].Command += line + "\n"
			if line == open {
				open = ""
			}
		case strings.HasSuffix(lines[i-1], `\`) && steps[last].Output == "":
			steps[last].Command += line + "\n"
			open = hereDocument(line)
		default:
			steps[last].Output += line + "\n"
		}
	}
	return steps
}

var document = regexp.MustCompile(`<<'?([A-Z]+)'?`)

// hereDocument is the word that ends the here-document that a line begins, or "".
func hereDocument(line string) string {
	if m := document.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

var defaulted = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`)

// Objects returns the YAML that readers apply from the block: the block itself, or its
// here-documents. Variables have the value that the page gives them if a reader sets none.
func (b Block) Objects() []string {
	if b.Language == "yaml" {
		return []string{b.Text}
	}
	var out []string
	for _, s := range b.Steps() {
		lines := strings.Split(s.Command, "\n")
		for i := 0; i < len(lines); i++ {
			end := hereDocument(lines[i])
			if end == "" || !strings.Contains(lines[i], "kubectl apply") {
				continue
			}
			var body strings.Builder
			for i++; i < len(lines) && lines[i] != end; i++ {
				body.WriteString(lines[i] + "\n")
			}
			out = append(out, defaulted.ReplaceAllString(body.String(), "$1"))
		}
	}
	return out
}
