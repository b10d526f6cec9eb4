package exports

import (
	"errors"
	"fmt"
	"syscall"
)

// Of Linux, as 9P2000.L has them.
const (
	readOnly  = uint32(0)
	readWrite = uint32(2)
	exclusive = uint32(0o200)

	typeMask    = 0o170000
	regularType = 0o100000

	// Bits of Tgetattr, and of Tsetattr.
	getMode = uint64(0x1)
	getSize = uint64(0x200)
	setSize = uint32(0x8)

	rootGID = uint32(0)
)

// walk to a file, ENOENT if part of the way is missing.
func (s *session) walk(from fid, names ...string) (fid, error) {
	to := s.next()
	fields := []any{from, to, uint16(len(names))} //nolint:gosec // G115: one or two
	for _, n := range names {
		fields = append(fields, n)
	}
	answer, err := s.ask(tWalk, fields...)
	if err != nil {
		return 0, err
	}
	came, _, err := take[uint16](answer)
	if err == nil && int(came) < len(names) {
		err = syscall.ENOENT
	}
	return to, err
}

// openFolder of the exports, which is made if it is missing.
func (s *session) openFolder(root fid) (fid, error) {
	dir, err := s.walk(root, folder)
	if !errors.Is(err, syscall.ENOENT) {
		return dir, err
	}
	_, err = s.ask(tMkdir, root, folder, uint32(folderMode), rootGID)
	if err != nil && !errors.Is(err, syscall.EEXIST) {
		return 0, err
	}
	return s.walk(root, folder)
}

// openOrCreate a file, and its size.
func (s *session) openOrCreate(root fid, export string) (fid, uint64, error) {
	dir, err := s.openFolder(root)
	if err != nil {
		return 0, 0, err
	}
	file, err := s.walk(dir, export)
	if errors.Is(err, syscall.ENOENT) {
		file, err = s.create(dir, export)
	}
	if err != nil {
		return 0, 0, err
	}
	bytes, err := s.size(file)
	return file, bytes, err
}

// create a file. One that came meanwhile stays as it is.
func (s *session) create(dir fid, export string) (fid, error) {
	// The fid of the folder becomes that of the file.
	made, err := s.walk(dir)
	if err != nil {
		return 0, err
	}
	_, err = s.ask(tLcreate, made, export, readWrite|exclusive, uint32(exportMode), rootGID)
	if err != nil && !errors.Is(err, syscall.EEXIST) {
		return 0, err
	}
	return s.walk(dir, export)
}

// size of a file; ErrNotAFile of all else.
func (s *session) size(file fid) (uint64, error) {
	answer, err := s.ask(tGetattr, file, getMode|getSize)
	if err != nil {
		return 0, err
	}
	a, _, err := take[struct {
		Valid               uint64
		QID                 qid
		Mode, UID, GID      uint32
		Links, Device, Size uint64
	}](answer)
	switch {
	case err != nil:
		return 0, err
	case a.Valid&getMode == 0 || a.Valid&getSize == 0:
		return 0, errors.New("the server reports no mode or size")
	case a.Mode&typeMask != regularType:
		return 0, ErrNotAFile
	}
	return a.Size, nil
}

func (s *session) resize(file fid, bytes uint64) error {
	var mode, uid, gid uint32
	var times [4]uint64
	_, err := s.ask(tSetattr, file, setSize, mode, uid, gid, bytes, times)
	return err
}

// flushed unless an error came before: the server answers once all is in the store.
func (s *session) flushed(file fid, err error) error {
	if err != nil {
		return err
	}
	if _, err := s.ask(tLopen, file, readWrite); err != nil {
		return err
	}
	const dataOnly = uint32(0)
	_, err = s.ask(tFsync, file, dataOnly)
	return err
}

// list the exports of a folder: files alone, as the NBD server does.
func (s *session) list(dir fid) ([]Export, error) {
	// What is open cannot be walked from.
	listing, err := s.walk(dir)
	if err != nil {
		return nil, err
	}
	if _, err := s.ask(tLopen, listing, readOnly); err != nil {
		return nil, err
	}
	var all []Export
	for offset := uint64(0); ; {
		names, last, err := s.readdir(listing, offset)
		if err != nil || len(names) == 0 {
			return all, err
		}
		if err := s.appendExports(&all, dir, names); err != nil {
			return nil, err
		}
		offset = last
	}
}

// entry of a folder, ahead of its name.
type entry struct {
	QID    qid
	Offset uint64
	Type   byte
}

// readdir reads a part of a folder, none at its end, and where the next part begins.
func (s *session) readdir(dir fid, offset uint64) ([]string, uint64, error) {
	answer, err := s.ask(tReaddir, dir, offset, s.message-readdirHeader)
	if err != nil {
		return nil, 0, err
	}
	count, rest, err := take[uint32](answer)
	if err != nil || int(count) != len(rest) {
		return nil, 0, fmt.Errorf("%w: a folder of %d bytes in %d", errAnswer, count, len(rest))
	}
	var names []string
	for len(rest) > 0 {
		var head entry
		var name string
		if head, rest, err = take[entry](rest); err != nil {
			return nil, 0, err
		}
		if name, rest, err = takeText(rest); err != nil {
			return nil, 0, err
		}
		names, offset = append(names, name), head.Offset
	}
	return names, offset, nil
}

func (s *session) appendExports(to *[]Export, dir fid, names []string) error {
	for _, n := range names {
		if n == "." || n == ".." {
			continue
		}
		file, err := s.walk(dir, n)
		var bytes uint64
		if err == nil {
			bytes, err = s.size(file)
		}
		switch {
		case errors.Is(err, syscall.ENOENT), errors.Is(err, ErrNotAFile): // gone meanwhile, or none
		case err != nil:
			return err
		default:
			*to = append(*to, Export{Name: n, Bytes: bytes})
		}
	}
	return nil
}
