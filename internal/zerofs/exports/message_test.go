package exports

import (
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
)

// answering is a session with a server that answers whatever it is asked.
func answering(t *testing.T, answer []byte) *session {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = errors.Join(ours.Close(), theirs.Close()) })
	go func() {
		request := make([]byte, maxMessage)
		if _, err := theirs.Read(request); err == nil {
			_, _ = theirs.Write(answer)
		}
		_ = theirs.Close()
	}()
	return &session{conn: ours, message: maxMessage}
}

func answerOf(kind byte, tag uint16, body string) []byte {
	head := binary.LittleEndian.AppendUint32(nil, uint32(headerBytes+len(body)))
	return append(binary.LittleEndian.AppendUint16(append(head, kind), tag), body...)
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		answer []byte
		err    error
		text   string
	}{
		"error":          {answerOf(rLerror, 0, "\x02\x00\x00\x00"), syscall.ENOENT, ""},
		"error cut":      {answerOf(rLerror, 0, "\x02"), errAnswer, "cut short"},
		"of another":     {answerOf(tFsync, 0, ""), errAnswer, "type 50"},
		"another's tag":  {answerOf(tWalk+1, 7, ""), errAnswer, "tag 7"},
		"too small":      {[]byte("\x06\x00\x00\x00\x6f\x00\x00"), errAnswer, "6 bytes"},
		"too large":      {[]byte("\xff\xff\xff\x7f\x6f\x00\x00"), errAnswer, "2147483647 bytes"},
		"no count":       {answerOf(tWalk+1, 0, "\x01"), errAnswer, "cut short"},
		"part of a path": {answerOf(tWalk+1, 0, "\x00\x00"), syscall.ENOENT, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := answering(t, test.answer).walk(1, "a")
			if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, wanted %v", err, test.err)
			}
		})
	}
}

func TestEntries(t *testing.T) {
	entry := func(offset, name string) string {
		return strings.Repeat("q", 13) + offset + strings.Repeat("\x00", 7) + "\x08" + string(rune(len(name))) + "\x00" + name
	}
	two := entry("\x05", "one") + entry("\x09", "three")
	names, last, err := answering(t, answerOf(tReaddir+1, 0, string(rune(len(two)))+"\x00\x00\x00"+two)).readdir(1, 0)
	if err != nil || last != 9 || strings.Join(names, " ") != "one three" {
		t.Errorf("%q, %d, %v", names, last, err)
	}
	for _, body := range []string{"", "\x01\x00\x00\x00", "\x03\x00\x00\x00abc", string(rune(len(two)-1)) + "\x00\x00\x00" + two[:len(two)-1]} {
		if _, _, err := answering(t, answerOf(tReaddir+1, 0, body)).readdir(1, 0); !errors.Is(err, errAnswer) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestVersions(t *testing.T) {
	for body, want := range map[string]string{
		"\x00\x20\x00\x00\x08\x009P2000.L": "",
		"\x00\x20\x00\x00\x07\x00unknown":  "not 9P2000.L",
		"\x00\x20\x00\x00\x06\x009P2000":   "not 9P2000.L",
		"\x00\x01\x00\x00\x08\x009P2000.L": "256 bytes",
		"\x00\x00\x02\x00\x08\x009P2000.L": "131072 bytes",
		"\x00\x20\x00\x00\x09\x009P2000.L": "cut short",
		"\x00":                             "cut short",
	} {
		s := session{message: maxMessage}
		switch err := s.agree([]byte(body)); {
		case want == "" && (err != nil || s.message != 8192):
			t.Errorf("%q: %v, messages of %d", body, err, s.message)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, wanted %q", body, err, want)
		}
	}
}

// A client that names no uid may do nothing on ZeroFS.
func TestAttachesAsRoot(t *testing.T) {
	got, err := pack(tAttach, 0, []any{fid(1), noFid, "root", "", uint32(0)})
	const want = "\x1b\x00\x00\x00\x68\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff\x04\x00root\x00\x00\x00\x00\x00\x00"
	if err != nil || string(got) != want {
		t.Errorf("%x, %v, wanted %x", got, err, want)
	}
}
