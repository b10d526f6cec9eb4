// Package input reads the files that commands are given, and splits them into
// documents. What it reads may be careless or hostile: the files of a pull request,
// an editor's encoding, a pipe that nobody writes to. Every byte is either read or
// refused with its place; nothing is dropped.
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

// MaxBytes limits all that one command reads: about 1,000 Nodes as kubectl prints
// them.
const MaxBytes = 16 << 20

// Stdin is how the standard input is named on the command line.
const Stdin = "-"

// extensions of the files that are read in folders, as kubectl reads them.
var extensions = []string{".yaml", ".yml", ".json"}

// File is the content of one named file in UTF-8, with line feeds as line ends.
type File struct {
	// Name as a person gave it, for messages.
	Name    string
	Content []byte
}

// Source of files.
type Source struct {
	// In is the standard input.
	In io.Reader
	// Recursive reads the folders of a folder too.
	Recursive bool
	// MaxBytes of all files; 0 is MaxBytes.
	MaxBytes int64
	// Waiting is called before the standard input is read; nil does nothing.
	Waiting func()
}

// Files of the given names: files, folders, patterns, or Stdin. It returns as soon as
// ctx ends, also while a pipe has no writer. Each error names the file.
func (s Source) Files(ctx context.Context, names []string) ([]File, error) {
	left := s.MaxBytes
	if left == 0 {
		left = MaxBytes
	}
	most := left
	if i := slices.Index(names, Stdin); i >= 0 && slices.Contains(names[i+1:], Stdin) {
		return nil, errors.New("- is given twice, and the standard input can be read once; remove one")
	}
	var out []File
	for _, name := range names {
		paths, err := s.paths(name)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			content, err := s.read(ctx, path, left)
			switch {
			case errors.Is(err, errTooLarge):
				return nil, fmt.Errorf("%s: the input is larger than %d MiB; give fewer or smaller files", called(path), most>>20)
			case err != nil:
				return nil, fmt.Errorf("%s: %w", called(path), err)
			}
			left -= int64(len(content))
			if content, err = Text(content); err != nil {
				return nil, fmt.Errorf("%s: %w", called(path), err)
			}
			out = append(out, File{Name: called(path), Content: content})
		}
	}
	return out, nil
}

// called is the name of a file in messages.
func called(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

// paths that a name stands for.
func (s Source) paths(name string) ([]string, error) {
	switch {
	case name == Stdin:
		return []string{name}, nil
	case name == "":
		return nil, errors.New("the name of a file is empty")
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("%s: nothing is read from the network; download it and review it first, then give the file", name)
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

// matches of a pattern that the shell left as it is.
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

// within a folder are its files with one of the extensions, sorted.
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
			err = fmt.Errorf("%w; --recursive also reads the folders in it", err)
		}
	}
	return out, err
}

// regular refuses what may block or never end, where nobody has named it.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: this is not a regular file; remove it from the folder, or name it alone", path)
	}
	return err
}

// errTooLarge: there is more to read than may be read.
var errTooLarge = errors.New("too large")

// read at most so many bytes of a file.
func (s Source) read(ctx context.Context, path string, most int64) ([]byte, error) {
	if path == Stdin {
		if s.Waiting != nil {
			s.Waiting()
		}
		return bounded(ctx, func() (io.ReadCloser, error) { return io.NopCloser(s.In), nil }, most)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("this is a folder; give the folder itself, with --recursive for those in it")
	}
	if info.Mode().IsRegular() && info.Size() > most {
		return nil, errTooLarge
	}
	return bounded(ctx, func() (io.ReadCloser, error) { return os.Open(path) }, most)
}

// bounded reads what open opens. A pipe without a writer blocks where no deadline
// reaches, so the reading is left behind when ctx ends: the program ends then too.
func bounded(ctx context.Context, open func() (io.ReadCloser, error), most int64) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	done := make(chan result, 1)
	go func() {
		content, err := readAll(open, most)
		done <- result{content, err}
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
