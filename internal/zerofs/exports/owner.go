package exports

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

const (
	// ownerFile is beside the folder of the exports, and so is none.
	ownerFile = ".pgstorage-owner"
	// maxOwner in bytes: more than the mark of any owner, less than any message.
	maxOwner = 1 << 10
)

// Owner is the mark that the last owner of the file system left. It fails with ErrNoOwner
// where no owner left one. Only the server says so: that its socket does not exist is
// fs.ErrNotExist.
func (c *Client) Owner(ctx context.Context) (string, error) {
	var mark []byte
	err := c.do(ctx, func(s *session, root fid) error {
		file, err := s.walk(root, ownerFile)
		if errors.Is(err, syscall.ENOENT) {
			return ErrNoOwner
		}
		if err == nil {
			_, err = s.ask(tLopen, file, readOnly)
		}
		if err == nil {
			mark, err = s.read(file, maxOwner)
		}
		if err == nil && len(mark) == 0 { // made, and not written
			err = ErrNoOwner
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the owner's mark: %w", err)
	}
	return string(mark), nil
}

// SetOwner leaves a mark of 1 to 1024 bytes in place of the one before, and flushes it
// to the object store. Marks of one length replace each other whole or not at all.
//
// Errors: ErrInvalid.
func (c *Client) SetOwner(ctx context.Context, mark string) error {
	if mark == "" || len(mark) > maxOwner {
		return fmt.Errorf("%w: the owner's mark has %d bytes, not 1 to %d", ErrInvalid, len(mark), maxOwner)
	}
	err := c.do(ctx, func(s *session, root fid) error {
		file, err := s.walk(root, ownerFile)
		if errors.Is(err, syscall.ENOENT) {
			file, err = s.create(root, ownerFile)
		}
		var has uint64
		if err == nil {
			has, err = s.size(file)
		}
		if err == nil && has > uint64(len(mark)) {
			err = s.resize(file, uint64(len(mark)))
		}
		if err != nil {
			return err
		}
		return s.replace(file, []byte(mark))
	})
	if err != nil {
		return fmt.Errorf("leave the owner's mark: %w", err)
	}
	return nil
}

// read the beginning of a file that is open, up to a length.
func (s *session) read(file fid, length uint32) ([]byte, error) {
	answer, err := s.ask(tRead, file, uint64(0), length)
	if err != nil {
		return nil, err
	}
	count, rest, err := take[uint32](answer)
	if err != nil || int(count) != len(rest) || count > length {
		return nil, fmt.Errorf("%w: %d bytes in %d", errAnswer, count, len(rest))
	}
	return rest, nil
}

// replace the beginning of a file, and flush it.
func (s *session) replace(file fid, data []byte) error {
	if _, err := s.ask(tLopen, file, readWrite); err != nil {
		return err
	}
	answer, err := s.ask(tWrite, file, uint64(0), uint32(len(data)), data) //nolint:gosec // G115: up to maxOwner
	if err != nil {
		return err
	}
	if count, _, err := take[uint32](answer); err != nil || int(count) != len(data) {
		return fmt.Errorf("%w: %d of %d bytes were written", errAnswer, count, len(data))
	}
	const dataOnly = uint32(0)
	_, err = s.ask(tFsync, file, dataOnly)
	return err
}
