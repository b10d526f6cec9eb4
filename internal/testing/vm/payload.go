//go:build linux

package vm

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// artefactsBytes bounds what a guest can leave; the file is sparse.
const artefactsBytes = 256 << 20

func (m *Machine) payloadPath() string   { return filepath.Join(m.options.Dir, "payload.tar") }
func (m *Machine) artefactsPath() string { return filepath.Join(m.options.Dir, "artefacts.tar") }

// writePayload makes the two disks that carry files in and out. Each has a tar archive from the
// first byte on, since an archive needs neither a file system nor a mount.
func (m *Machine) writePayload() error {
	if m.options.Payload["run"] == "" {
		return errors.New(`the payload has no file "run"`)
	}
	if err := makeDisk(m.artefactsPath(), artefactsBytes); err != nil {
		return err
	}
	file, err := os.Create(m.payloadPath())
	if err != nil {
		return err
	}
	return errors.Join(m.packPayload(tar.NewWriter(file)), file.Close())
}

func (m *Machine) packPayload(archive *tar.Writer) error {
	for name, words := range map[string][]string{"args": m.options.Args, "env": m.options.Env} {
		if err := packText(archive, name, terminated(words)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.options.Payload)) {
		if err := packFile(archive, name, m.options.Payload[name]); err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
	}
	return archive.Close()
}

// terminated ends each word with the one byte that no word can have.
func terminated(words []string) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(word + "\x00")
	}
	return b.String()
}

func packText(archive *tar.Writer, name, text string) error {
	header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.WriteString(archive, text)
	return err
}

func packFile(archive *tar.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}

// extractTar unpacks the files of an archive that a guest wrote: nothing in it can
// lead outside the folder. A disk of zeros is an empty archive.
func extractTar(path, folder string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // a folder
	archive := tar.NewReader(file)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = extractOne(root, header, archive)
		}
		if err != nil {
			return err
		}
	}
}

// extractOne leaves out what is neither a folder nor a plain file.
func extractOne(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.Clean(header.Name)
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o750)
	case tar.TypeReg:
	default:
		return nil
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, content, header.Size)
	return errors.Join(err, file.Close())
}
