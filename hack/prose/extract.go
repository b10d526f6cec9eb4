package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// passage is one text of a source file, and the line of it in the extract.
type passage struct {
	line   int
	source string // file:line
}

// extracts maps each file that Vale reads to the passages in it.
type extracts map[string]extractOf

type extractOf struct {
	part     string
	passages []passage
}

func (e extracts) files() []string {
	var files []string
	for file := range e {
		files = append(files, file)
	}
	slices.Sort(files)
	return files
}

// extract writes the texts of Go strings and of CRDs as Markdown below dir.
func extract(dir string, files []string) (extracts, error) {
	out := extracts{}
	for _, file := range files {
		var texts []text
		var part string
		var err error
		switch {
		case strings.HasPrefix(file, "config/crd/bases/"):
			texts, err = descriptions(file)
			part = file
		case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && speaks(file):
			texts, err = literals(file)
			part = filepath.Dir(file) + " texts"
		}
		if err != nil {
			return nil, fmt.Errorf("extract texts of %s: %w", file, err)
		}
		if len(texts) == 0 {
			continue
		}
		name := filepath.Join(dir, strings.ReplaceAll(file, "/", "__")+".md")
		passages, content := layOut(file, texts)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return nil, err
		}
		out[name] = extractOf{part: part, passages: passages}
	}
	return out, nil
}

// speaks reports whether users read texts of this file; those of tests and of the
// programs below test/ are read by developers only.
func speaks(file string) bool {
	return !strings.HasPrefix(file, "test/") && !strings.HasPrefix(file, "hack/") && !strings.HasPrefix(file, "internal/testing/")
}

// text and the line on which it begins.
type text struct {
	line  int
	words string
}

// layOut puts each text into paragraphs of its own.
func layOut(file string, texts []text) ([]passage, string) {
	var passages []passage
	var b strings.Builder
	line := 1
	for _, t := range texts {
		passages = append(passages, passage{line: line, source: fmt.Sprintf("%s:%d", file, t.line)})
		b.WriteString(t.words + "\n\n")
		line += strings.Count(t.words, "\n") + 2
	}
	return passages, b.String()
}

var (
	// sentence has at least three words that follow each other.
	sentence = regexp.MustCompile(`[A-Za-z]{2,}[,;:]? [A-Za-z%]+[,;:]? [A-Za-z%]+`)
	// row of help, a command or the first line of a row of a table: no sentence runs over two rows.
	row = regexp.MustCompile(`\n {2}([^ ])`)
	// program texts are SQL, shell and CEL; their words are not ours.
	program = regexp.MustCompile(`(?m)\b(SELECT|INSERT|CREATE|DROP|ALTER|GRANT|SET) [a-zA-Z(*]|^#!|\bself\.|\becho `)
)

// literals of a Go file that read like sentences: messages, help, usage of flags.
func literals(file string) ([]text, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var texts []text
	ast.Inspect(parsed, func(n ast.Node) bool {
		expression, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		words, ok := joined(expression)
		if !ok {
			return true
		}
		if sentence.MatchString(words) && !program.MatchString(words) {
			texts = append(texts, text{line: set.Position(n.Pos()).Line, words: row.ReplaceAllString(strings.TrimSpace(words), "\n\n$1")})
		}
		return false
	})
	return texts, nil
}

// joined is the value of a literal, or of literals that + joins.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		words, err := strconv.Unquote(e.Value)
		return words, err == nil
	case *ast.BinaryExpr:
		left, ok := joined(e.X)
		if !ok || e.Op != token.ADD {
			return "", false
		}
		right, ok := joined(e.Y)
		return left + right, ok
	}
	return "", false
}

// descriptions of a CRD, each on one line.
func descriptions(file string) ([]text, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(content, &root); err != nil {
		return nil, err
	}
	return describe(&root, nil), nil
}

func describe(n *yaml.Node, texts []text) []text {
	for i, child := range n.Content {
		named := n.Kind == yaml.MappingNode && i%2 == 1
		if named && n.Content[i-1].Value == "conditions" && len(child.Content) > 0 {
			texts = append(texts, ownDescription(child)...)
			continue
		}
		if named && child.Kind == yaml.ScalarNode && n.Content[i-1].Value == "description" {
			texts = append(texts, text{line: child.Line, words: child.Value})
			continue
		}
		texts = describe(child, texts)
	}
	return texts
}

// ownDescription is that of a list of conditions. Kubernetes describes its items.
func ownDescription(conditions *yaml.Node) []text {
	var own []text
	for i := 0; i+1 < len(conditions.Content); i += 2 {
		if conditions.Content[i].Value == "description" {
			own = describe(&yaml.Node{Kind: yaml.MappingNode, Content: conditions.Content[i : i+2]}, own)
		}
	}
	return own
}
