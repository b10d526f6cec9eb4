//go:build !linux

package tmpfs

import "errors"

func enter(string) error { return errors.ErrUnsupported }

func list(string) (Seen, error) { return Seen{}, errors.ErrUnsupported }

func mountVolume(Volume) error { return errors.ErrUnsupported }

func unmount(Place) error { return errors.ErrUnsupported }
