//go:build !linux

package nbd

import "errors"

func readDirect(string) error { return errors.ErrUnsupported }
