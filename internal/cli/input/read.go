// Package input reads the files that commands receive, and splits them into documents.
// Files can be careless or hostile: the files of a pull request, the encoding of an
// editor, a pipe without a writer. Package input reads every byte or rejects it with its
// place; it never drops content.
package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxBytes limits what one command reads. About 1,000 Nodes fit, as kubectl prints them.
const MaxBytes = 16 << 20

// Stdin names the standard input on the command line.
const Stdin = "-"

// extensions are those of the files to read in a folder, as in kubectl.
var extensions = []string{".yaml", ".yml", ".json"}

// File is the content of one named file in UTF-8, with line feeds as line ends.
type File struct {
	// Name as the user gave it, for messages.
	Name    string
	Content []byte
}

// Source reads files.
type Source struct {
	// In is the standard input.
	In io.Reader
	// Recursive also reads subfolders.
	Recursive bool
	// MaxBytes limits all files together; 0 selects MaxBytes.
	MaxBytes int64
	// OnStdin is called before reading the standard input, if it is set.
	OnStdin func()
}

// Files reads the named files, folders, patterns, or Stdin. It returns as soon as ctx ends,
// even while a pipe has no writer. Each error names the file.
func (s Source) Files(ctx context.Context, names []string) ([]File, error) {
	left := s.MaxBytes
	if left == 0 {
		left = MaxBytes
	}
	most := left
	if i := slices.Index(names, Stdin); i >= 0 && slices.Contains(names[i+1:], Stdin) {
		return nil, errors.New("- is given twice, but the standard input can be read only once; remove one")
	}
	var out []File
	for _, name := range names {
		paths, err := s.paths(name)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			content, err := s.read(ctx, path, left)
			if errors.Is(err, errTooLarge) {
				err = fmt.Errorf("the input is larger than %d MiB; give fewer or smaller files", most>>20)
			}
			left -= int64(len(content))
			if err == nil {
				content, err = Text(content)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", display(path), err)
			}
			out = append(out, File{Name: display(path), Content: content})
		}
	}
	return out, nil
}

// display returns the name of a file for messages.
func display(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

// paths returns the files that a name selects.
func (s Source) paths(name string) ([]string, error) {
	switch {
	case name == Stdin:
		return []string{name}, nil
	case name == "":
		return nil, errors.New("empty file name")
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("%s: cannot read from the network; download the file, review it, and give its path", name)
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[") {
		return matches(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	return s.within(name)
}

// matches returns the files that match a pattern.
func matches(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no file matches this pattern", pattern)
	}
	slices.Sort(found)
	return found, nil
}

// within returns the files of a folder with one of the extensions, sorted.
func (s Source) within(folder string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && !s.Recursive:
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
			return nil
		}
		out = append(out, path)
		return regular(path)
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("folder %s has no .yaml, .yml or .json file", folder)
		if !s.Recursive {
			err = fmt.Errorf("%w; use --recursive to also read its subfolders", err)
		}
	}
	return out, err
}

// regular rejects pipes and devices in a folder: reading them can block or never end.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file; remove it from the folder, or name it explicitly", path)
	}
	return err
}

// errTooLarge is returned for input beyond the limit.
var errTooLarge = errors.New("too large")

// read reads a file of at most the given bytes.
func (s Source) read(ctx context.Context, path string, most int64) ([]byte, error) {
	if path == Stdin {
		if s.OnStdin != nil {
			s.OnStdin()
		}
		return bounded(ctx, func() (io.ReadCloser, error) { return io.NopCloser(s.In), nil }, most)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("a folder; name the folder itself, with --recursive for its subfolders")
	}
	if info.Mode().IsRegular() && info.Size() > most {
		return nil, errTooLarge
	}
	return bounded(ctx, func() (io.ReadCloser, error) { return os.Open(path) }, most)
}

// bounded reads what open opens. No deadline applies to opening a pipe without a writer,
// so bounded abandons the read when ctx ends; the program ends at that time too.
func bounded(ctx context.Context, open func() (io.ReadCloser, error), most int64) ([]byte, error) {
	type read struct {
		content []byte
		err     error
	}
	done := make(chan read, 1)
	go func() {
		content, err := readAll(open, most)
		done <- read{content, err}
	}()
	select {
	case r := <-done:
		return r.content, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("interrupted while reading: %w", context.Cause(ctx))
	}
}

func readAll(open func() (io.ReadCloser, error), most int64) ([]byte, error) {
	from, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	var content bytes.Buffer
	if _, err := io.Copy(&content, io.LimitReader(from, most+1)); err != nil {
		return nil, err
	}
	if int64(content.Len()) > most {
		return nil, errTooLarge
	}
	return content.Bytes(), nil
}
