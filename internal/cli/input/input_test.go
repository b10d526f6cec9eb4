package input

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"
)

func utf16Text(order binary.AppendByteOrder, mark bool, text string) []byte {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xFEFF)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

const two = "a: 1\n---\nb: é\n"

func TestTextDecodesEveryAcceptedEncoding(t *testing.T) {
	for name, content := range map[string][]byte{
		"UTF-8":           []byte(two),
		"UTF-8 with mark": []byte("\ufeff" + two),
		"UTF-16LE":        utf16Text(binary.LittleEndian, true, two),
		"UTF-16BE":        utf16Text(binary.BigEndian, true, two),
		"CRLF":            []byte(strings.ReplaceAll(two, "\n", "\r\n")),
		"CR":              []byte(strings.ReplaceAll(two, "\n", "\r")),
		"UTF-16LE CRLF":   utf16Text(binary.LittleEndian, true, strings.ReplaceAll(two, "\n", "\r\n")),
	} {
		if got, err := Text(content); err != nil || string(got) != two {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, two)
		}
	}
}

func TestTextRejectsOtherEncodings(t *testing.T) {
	for want, content := range map[string][]byte{
		"line 1: the text contains a NUL byte": utf16Text(binary.LittleEndian, false, two),
		"line 3: the text contains a NUL byte": []byte("a: 1\n\nb: \x00\n"),
		"line 2: the text is not valid UTF-8":  []byte("a: 1\nb: \xe9\n"),
		"encoded as UTF-32":                    {0xFF, 0xFE, 0, 0, 'a', 0, 0, 0},
		"UTF-16 text ends within a character":  {0xFF, 0xFE, 'a'},
		"the text is not valid UTF-16":         {0xFF, 0xFE, 0x00, 0xD8, 'a', 0},
	} {
		if got, err := Text(content); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "save it as UTF-8") {
			t.Errorf("%q %v, want %s", got, err, want)
		}
	}
}

func TestDocumentsAreNeverLost(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    []string
	}{
		"one":                     {"a: 1\n", []string{`{"a":1}`}},
		"no line end":             {"a: 1", []string{`{"a":1}`}},
		"markers first and last":  {"---\na: 1\n---\n", []string{`{"a":1}`}},
		"empty between":           {"a: 1\n---\n\n---\n# only a comment\n---\nb: 2\n", []string{`{"a":1}`, `{"b":2}`}},
		"spaces after the marker": {"a: 1\n---  \nb: 2\n---\t\nc: 3\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"comment after it":        {"a: 1\n--- # next\nb: 2\n", []string{`{"a":1}`, `{"b":2}`}},
		"content after it":        {"a: 1\n--- {b: 2}\n--- {c: 3}\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"end marker":              {"a: 1\n...\nb: 2\n", []string{`{"a":1}`, `{"b":2}`}},
		"null":                    {"null\n---\n~\n---\na: 1\n", []string{`{"a":1}`}},
		"within a text":           {"a: |\n  x\n  ---\n  y\n", []string{`{"a":"x\n---\ny\n"}`}},
		"dashes within a line":    {"a: x---y\n----: b\n", []string{`{"----":"b","a":"x---y"}`}},
		"JSON":                    {`{"a": 1}`, []string{`{"a": 1}`}},
		"JSON, one after another": {"{\"a\": 1}\n{\"b\": 2}{\"c\": 3}", []string{`{"a": 1}`, `{"b": 2}`, `{"c": 3}`}},
		"JSON and markers":        {"---\n{\"a\": 1}\n---\n{\"b\": 2}\n", []string{`{"a": 1}`, `{"b": 2}`}},
		"YAML in braces":          {"{a: 1}\n---\n{b: 2}\n", []string{`{"a":1}`, `{"b":2}`}},
		"nothing":                 {"# a\n---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			documents, err := Documents(File{Name: "f", Content: []byte(tc.content)})
			var got []string
			for _, d := range documents {
				got = append(got, string(d.JSON))
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%q %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestPlacesHaveDocumentAndLine(t *testing.T) {
	documents, err := Documents(File{Name: "a.yaml", Content: []byte("# a\n\na: 1\n---\n# b\nb: 2\n")})
	if err != nil || len(documents) != 2 || documents[0].Place != "a.yaml: document 1, at line 3" || documents[1].Place != "a.yaml: document 2, at line 6" {
		t.Errorf("%+v %v", documents, err)
	}
}

func TestDocumentsRejectsMalformedInput(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, tc := range map[string]struct{ content, want string }{
		// YAML treats NEL as the end of a line, so a marker follows.
		"a hidden document":   {"a: 1\u0085---\u0085b: 2\n", "beginning of another one"},
		"a hidden end":        {"a: 1\u2028...\u2028b: 2\n", "beginning of another one"},
		"the same key twice":  {"x: 1\n---\na: 1\na: 2\n", `f: document 2, at line 3: yaml: unmarshal errors:`},
		"twice in JSON":       {`{"a": {"b": 1, "b": 2}}`, `duplicate field "a.b"`},
		"after JSON":          {`{"a": 1} and more`, "remove the rest"},
		"half of JSON":        {`{"a": 1}` + "\n" + `{"b":`, "unexpected EOF"},
		"not closed":          {"a: [1\n", "did not find expected"},
		"a tab":               {"a:\n\tb: 1\n", "cannot start any token"},
		"aliases in aliases":  {bomb(), "excessive aliasing"},
		"aliases of one text": {"a: &a " + long + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a, ", 100), ", ") + "]\n", "exceeds 32 MiB after expanding its aliases"},
		"an alias of itself":  {"a: &a [*a]\n", "contains itself"},
		"deep":                {strings.Repeat("[", 1<<20), "exceeded max depth"},
		"deep JSON":           {strings.Repeat(`{"a":`, 1<<20), "exceeded max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			documents, err := Documents(File{Name: "f", Content: []byte(tc.content)})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "f: document ") {
				t.Errorf("%d documents, %.300v, want %s", len(documents), err, tc.want)
			}
		})
	}
}

// bomb returns nested aliases that expand to nine to the tenth values.
func bomb() string {
	out := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		out += "a" + to + ": &a" + to + " [" + strings.TrimSuffix(strings.Repeat("*a"+from+", ", 9), ", ") + "]\n"
	}
	return out
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreFoundByNameFolderAndPattern(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b.yml", "a.yaml", "c.JSON", "notes.txt", "deep/d.yaml", "only/deep/e.yaml"} {
		write(t, filepath.Join(folder, name), "a: 1\n")
	}
	for name, tc := range map[string]struct {
		recursive bool
		names     []string
		want      []string
	}{
		"folder":             {false, []string{"."}, []string{"a.yaml", "b.yml", "c.JSON"}},
		"folders in it":      {true, []string{"."}, []string{"a.yaml", "b.yml", "c.JSON", "deep/d.yaml", "only/deep/e.yaml"}},
		"a pattern":          {false, []string{"*.y*"}, []string{"a.yaml", "b.yml"}},
		"files in order":     {false, []string{"b.yml", "a.yaml"}, []string{"b.yml", "a.yaml"}},
		"any file by name":   {false, []string{"notes.txt"}, []string{"notes.txt"}},
		"the standard input": {false, []string{"a.yaml", "-"}, []string{"a.yaml", "standard input"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(folder)
			files, err := Source{In: strings.NewReader("b: 1\n"), Recursive: tc.recursive}.Files(t.Context(), tc.names)
			var got []string
			for _, f := range files {
				got = append(got, f.Name)
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestFilesRejectsWhatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "empty/deep/a.yaml"), "a: 1\n")
	write(t, filepath.Join(folder, "pipes/a.yaml"), "a: 1\n")
	write(t, filepath.Join(folder, "latin.yaml"), "a: \xe9\n")
	write(t, filepath.Join(folder, "large.yaml"), strings.Repeat("a", 11))
	if err := syscall.Mkfifo(filepath.Join(folder, "pipes/b.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	for name, tc := range map[string]struct {
		names []string
		want  string
	}{
		"absent":                {[]string{"absent.yaml"}, "absent.yaml: no such file"},
		"no name":               {[]string{""}, "empty file name"},
		"the network":           {[]string{"https://example.com/a.yaml"}, "https://example.com/a.yaml: cannot read from the network"},
		"no match":              {[]string{"*.json"}, "*.json: no file matches"},
		"a bad pattern":         {[]string{"[a"}, "[a: "},
		"an empty folder":       {[]string{"empty"}, "folder empty has no .yaml, .yml or .json file; use --recursive"},
		"input twice":           {[]string{"-", "-"}, "- is given twice"},
		"a pipe in a folder":    {[]string{"pipes"}, "pipes/b.yaml: not a regular file"},
		"another encoding":      {[]string{"latin.yaml"}, "latin.yaml: line 1: the text is not valid UTF-8"},
		"a large file":          {[]string{"large.yaml"}, "large.yaml: the input is larger than"},
		"a large input":         {[]string{"-"}, "standard input: the input is larger than"},
		"a folder of a pattern": {[]string{"emp*"}, "empty: a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Source{In: strings.NewReader(strings.Repeat("a", 11)), MaxBytes: 10}.Files(t.Context(), tc.names)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// endless is an endless input that counts the bytes read.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

// The limit applies to all files together.
func TestReadingIsBounded(t *testing.T) {
	in := &endless{}
	_, err := Source{In: in}.Files(t.Context(), []string{"-"})
	if err == nil || !strings.Contains(err.Error(), "standard input: the input is larger than 16 MiB") {
		t.Error(err)
	}
	if in.read > MaxBytes+1<<20 {
		t.Errorf("read %d bytes, want at most %d", in.read, MaxBytes+1<<20)
	}
	path := filepath.Join(t.TempDir(), "a.yaml")
	write(t, path, strings.Repeat("a", 6))
	if _, err := (Source{MaxBytes: 10}).Files(t.Context(), []string{path, path}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("two files of 6 bytes with a limit of 10: %v", err)
	}
}

// One pipe has no writer, and one has a silent writer.
func TestReadingEndsWithTheContext(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	for _, name := range []string{fifo, "-"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := errors.New("the test ends it")
		cancel(ended)
		if _, err := (Source{In: silent}).Files(ctx, []string{name}); !errors.Is(err, ended) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDocuments checks that any input gives documents or an error.
func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{two, bomb(), "{\"a\":1}{\"b\":2}", "---\r...\r", "\xff\xfea\x00", "a: &a [*a]", "%YAML 1.2\n---\na: 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		text, err := Text(content)
		if err != nil {
			return
		}
		documents, err := Documents(File{Name: "f", Content: text})
		if err != nil {
			return
		}
		for _, d := range documents {
			if len(d.JSON) == 0 || d.Place == "" {
				t.Errorf("%+v", d)
			}
		}
	})
}
