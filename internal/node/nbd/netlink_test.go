package nbd

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
)

func TestMessages(t *testing.T) {
	files := sockets{}
	for range 2 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close() //nolint:errcheck // read-only
		files = append(files, f)
	}
	descriptors := []uint32{uint32(files[0].Fd()), uint32(files[1].Fd())}
	const all = 0xffff
	d := sample(func(d *Device) { d.Timeout, d.DeadConnTimeout = 10*time.Minute, 7*time.Second }).withDefaults()
	body, err := connectMessage(d, offer{Bytes: 1 << 40, Flags: all}, files)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, body, descriptors, map[uint16]uint64{
		attrIndex: 3, attrSizeBytes: 1 << 40, attrBlockSizeBytes: 4096, attrTimeout: 600, attrDeadConnTimeout: 7, attrServerFlags: uint64(passedOn),
	})
	d = sample(func(d *Device) { d.DeadConnTimeout = Forever }).withDefaults()
	if body, err = reconfigureMessage(d, files); err != nil {
		t.Fatal(err)
	}
	holds(t, body, descriptors, map[uint16]uint64{attrIndex: 3, attrTimeout: 0, attrDeadConnTimeout: 315360000})
}

// holds wants just these attributes of a message about the sample.
func holds(t *testing.T, body []byte, wantDescriptors []uint32, want map[uint16]uint64) {
	t.Helper()
	numbers := map[uint16]uint64{}
	var text string
	var descriptors []uint32
	a, err := netlink.NewAttributeDecoder(body)
	if err != nil {
		t.Fatal(err)
	}
	for a.Next() {
		switch a.Type() {
		case attrIndex:
			numbers[attrIndex] = uint64(a.Uint32())
		case attrBackend:
			text = a.String()
		case attrSockets:
			a.Nested(func(list *netlink.AttributeDecoder) error {
				for list.Next() {
					list.Nested(func(item *netlink.AttributeDecoder) error {
						for item.Next() {
							descriptors = append(descriptors, item.Uint32())
						}
						return nil
					})
				}
				return nil
			})
		default:
			numbers[a.Type()] = a.Uint64()
		}
	}
	if !maps.Equal(numbers, want) {
		t.Errorf("attributes are %v, wanted %v", numbers, want)
	}
	if a.Err() != nil || text != "pool-a@1" || !slices.Equal(descriptors, wantDescriptors) {
		t.Errorf("%v, %q, %v", a.Err(), text, descriptors)
	}
}

func TestParseStatus(t *testing.T) {
	item := func(index, connected string) string {
		return "14000100" + "08000100" + index + "000000" + "05000200" + connected + "000000"
	}
	body, err := hex.DecodeString("54000900" + item("00", "00") + item("01", "00") + item("02", "01") + item("0a", "01"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseStatus([]genetlink.Message{{Data: body}})
	if err != nil || !slices.Equal(got, []int{2, 10}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseStatus([]genetlink.Message{{Data: []byte{4, 0, 9, 0}}}); err != nil || len(got) > 0 {
		t.Errorf("without devices: %v, %v", got, err)
	}
	for cut := 1; cut < len(body); cut += 3 {
		_, _ = parseStatus([]genetlink.Message{{Data: body[:cut]}}) // does not panic
	}
}

func TestBounded(t *testing.T) {
	fault := errors.New("fault")
	if err := bounded(t.Context(), func() error { return fault }); !errors.Is(err, fault) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	release := make(chan struct{})
	defer close(release)
	if err := bounded(ctx, func() error { <-release; return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
