package pgbench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Harmless returns nil where a custom script provably does not change what a commit waits for
// (synchronous_commit above all). Its transactions then have the durability that the server
// gives to sessions of its role. Otherwise the error names the line and the cause.
//
// A session can change that setting in many ways: SET, set_config, an update of pg_settings,
// DO, CALL, or any function. So Harmless has an allow list and rejects the rest. It allows
// statements that begin with SELECT, INSERT, UPDATE, DELETE, VALUES, WITH, or control a
// transaction. It allows functions that are listed here, and no relation of the system's
// catalogue. It relies on the benchmark's own database, where only pgbench created tables, so
// foreign triggers, rules, views and functions do not exist.
func Harmless(script string) error {
	var sql strings.Builder
	for number, line := range strings.Split(strings.ReplaceAll(script, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		if !strings.HasPrefix(trimmed, `\`) {
			sql.WriteString(line)
			sql.WriteByte('\n')
			continue
		}
		sql.WriteByte('\n')
		if err := harmlessMeta(trimmed); err != nil {
			return fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	tokens, err := tokenise(sql.String())
	if err != nil {
		return err
	}
	start := 0
	for i := range tokens {
		if tokens[i].text == ";" {
			if err := harmlessStatement(tokens[start:i]); err != nil {
				return err
			}
			start = i + 1
		}
	}
	return harmlessStatement(tokens[start:])
}

// metas are commands of pgbench that compute numbers, wait, branch or batch. \gset and
// \aset are not among them: they put the server's text into later statements.
var metas = []string{`\set`, `\sleep`, `\if`, `\elif`, `\else`, `\endif`, `\startpipeline`, `\endpipeline`, `\syncpipeline`}

func harmlessMeta(line string) error {
	name := strings.Fields(line)[0]
	if !slices.Contains(metas, name) {
		return fmt.Errorf("%s is not known to be harmless", name)
	}
	if strings.HasSuffix(line, `\`) {
		return fmt.Errorf("%s goes on in the next line", name)
	}
	return nil
}

var (
	// openers of a statement.
	openers = []string{"select", "insert", "update", "delete", "values", "with", "begin", "start", "commit", "end", "rollback", "abort"}
	// before are words after which a parenthesis opens no call: SQL's own.
	before = []string{"in", "values", "and", "or", "not", "on", "as", "select", "from", "where", "any", "all", "some", "exists", "over", "when", "then", "else", "case", "using", "by", "set", "returning", "filter", "with", "materialized", "union", "except", "intersect", "having", "limit", "offset", "distinct", "conflict", "join", "lateral", "between", "like", "is", "update", "of", "array", "row"}
	// calls of functions and types of pg_catalog that change no setting.
	calls = []string{"count", "sum", "avg", "min", "max", "coalesce", "greatest", "least", "nullif", "abs", "round", "floor", "ceil", "mod", "random", "now", "clock_timestamp", "lower", "upper", "length", "substr", "substring", "md5", "repeat", "generate_series", "numeric", "decimal", "varchar", "char", "cast", "extract", "row_number", "rank"}
	// words that end, beside a call, in what may do anything.
	forbidden = []string{"into", "do", "call", "execute", "set_config", "prepare", "information_schema", "table"}
)

func harmlessStatement(tokens []token) error {
	if len(tokens) == 0 {
		return nil
	}
	first := tokens[0]
	if first.quoted || !slices.Contains(openers, first.text) {
		return fmt.Errorf("line %d: a statement that begins with %q is not known to be harmless", first.line, first.text)
	}
	inserts := first.text == "insert" || slices.ContainsFunc(tokens, func(t token) bool { return t.text == "insert" && !t.quoted })
	for i, t := range tokens {
		if !t.word {
			continue
		}
		if err := harmlessWord(tokens, i, inserts); err != nil {
			return fmt.Errorf("line %d: %w", t.line, err)
		}
	}
	return nil
}

func harmlessWord(tokens []token, i int, inserts bool) error {
	t := tokens[i]
	if strings.HasPrefix(t.text, "pg_") {
		return fmt.Errorf("%s belongs to the system's catalogue, where a setting can be changed", t.text)
	}
	if !t.quoted && slices.Contains(forbidden, t.text) && !partOfInsert(tokens, i, inserts) {
		return fmt.Errorf("%s is not known to be harmless", t.text)
	}
	if is(tokens, i+1, "(") && !harmlessCall(tokens, i) {
		return fmt.Errorf("a call of %s is not known to be harmless", t.text)
	}
	return nil
}

// is the token at a place this key word or sign.
func is(tokens []token, at int, text string) bool {
	return at >= 0 && at < len(tokens) && tokens[at].text == text && !tokens[at].quoted
}

// partOfInsert: DO of ON CONFLICT, and INTO of INSERT.
func partOfInsert(tokens []token, i int, inserts bool) bool {
	if tokens[i].text == "do" {
		return is(tokens, i+1, "nothing") || is(tokens, i+1, "update")
	}
	return tokens[i].text == "into" && inserts && is(tokens, i-1, "insert")
}

// harmlessCall allows a word before a parenthesis that is SQL's own, or a listed function. It
// also allows the name in INSERT INTO t (a, b), also with a schema, or in WITH s (a, b).
func harmlessCall(tokens []token, i int) bool {
	t := tokens[i]
	if is(tokens, i-1, ".") {
		return is(tokens, i-3, "into")
	}
	if !t.quoted && (slices.Contains(before, t.text) || slices.Contains(calls, t.text)) {
		return true
	}
	return slices.ContainsFunc([]string{"into", "with", "recursive"}, func(word string) bool { return is(tokens, i-1, word) })
}

type token struct {
	text string
	line int
	// word is an identifier or key word, in lower case unless it was quoted.
	word, quoted bool
}

// tokenise SQL, and refuse what can be read in two ways.
func tokenise(sql string) ([]token, error) {
	var out []token
	line := 1
	for i := 0; i < len(sql); {
		n, t, err := next(sql[i:])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if t.text != "" {
			t.line = line
			out = append(out, t)
		}
		line += strings.Count(sql[i:i+n], "\n")
		i += n
	}
	return out, nil
}

// next token of s, and how long it is; without text for space, comments and constants.
func next(s string) (int, token, error) {
	switch c := s[0]; {
	case strings.IndexByte(" \t\n", c) >= 0:
		return 1, token{}, nil
	case c < ' ' || c >= 0x80 || strings.IndexByte(`\$`, c) >= 0:
		// Some of them are space, or end a comment, to Postgres.
		return 0, token{}, fmt.Errorf("%q is not read", string(rune(c)))
	case strings.HasPrefix(s, "--"), strings.HasPrefix(s, "/*"):
		n, err := comment(s)
		return n, token{}, err
	case c == '\'':
		n, err := quoted(s, '\'')
		return n, token{text: "''"}, err
	case c == '"':
		n, err := quoted(s, '"')
		if err != nil {
			return 0, token{}, err
		}
		return n, token{text: strings.ReplaceAll(s[1:n-1], `""`, `"`), word: true, quoted: true}, nil
	case letter(c):
		return word(s)
	}
	return 1, token{text: s[:1]}, nil
}

func comment(s string) (int, error) {
	if s[0] == '/' {
		return 0, errors.New("a comment in /* */ is not read")
	}
	line, _, _ := strings.Cut(s, "\n")
	if strings.Contains(line, "\r") {
		return 0, errors.New("a carriage return in a comment is not read")
	}
	return len(line), nil
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func word(s string) (int, token, error) {
	n := 1
	for n < len(s) && inWord(s[n]) {
		n++
	}
	if n <= 2 && n < len(s) && strings.IndexByte("'&", s[n]) >= 0 {
		return 0, token{}, fmt.Errorf("a constant that begins with %s is not read", s[:n])
	}
	return n, token{text: strings.ToLower(s[:n]), word: true}, nil
}

func inWord(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '$' || c >= 0x80 }

// quoted is the length of a constant or an identifier in quotes, which may be doubled.
func quoted(s string, q byte) (int, error) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			return 0, errors.New("a backslash in quotes is not read")
		case s[i] == '\n':
			// A line in quotes could look like a command of pgbench.
			return 0, errors.New("a quote is not closed on its line")
		case s[i] != q:
		case i+1 < len(s) && s[i+1] == q:
			i++
		default:
			return i + 1, nil
		}
	}
	return 0, errors.New("a quote is not closed")
}
