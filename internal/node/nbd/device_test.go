package nbd

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func sample(change func(*Device)) Device {
	d := Device{Index: 3, Export: "pool-a", Socket: "/run/zerofs/nbd", Identifier: "pool-a@1"}
	if change != nil {
		change(&d)
	}
	return d
}

func TestDefaults(t *testing.T) {
	d := sample(nil).withDefaults()
	want := sample(func(d *Device) { d.BlockSize, d.Connections = 4096, 1 })
	if d != want || d.validate() != nil {
		t.Errorf("%+v, %v, wanted %+v", d, d.validate(), want)
	}
}

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Device)
		says   string // empty: it is valid
	}{
		"last index":            {func(d *Device) { d.Index = MaxIndex }, ""},
		"negative index":        {func(d *Device) { d.Index = -1 }, "index -1"},
		"index too large":       {func(d *Device) { d.Index = MaxIndex + 1 }, "index 32768"},
		"no export":             {func(d *Device) { d.Export = "" }, "export"},
		"export with a slash":   {func(d *Device) { d.Export = "a/b" }, "without /"},
		"long export":           {func(d *Device) { d.Export = strings.Repeat("x", 256) }, "255 bytes"},
		"relative socket":       {func(d *Device) { d.Socket = "nbd" }, "absolute"},
		"long socket":           {func(d *Device) { d.Socket = "/" + strings.Repeat("x", 107) }, "107 bytes"},
		"small blocks":          {func(d *Device) { d.BlockSize = 512 }, ""},
		"blocks too small":      {func(d *Device) { d.BlockSize = 256 }, "block size 256"},
		"blocks too large":      {func(d *Device) { d.BlockSize = 8192 }, "block size 8192"},
		"blocks of no power":    {func(d *Device) { d.BlockSize = 1536 }, "power of two"},
		"shortest time-out":     {func(d *Device) { d.Timeout = time.Second }, ""},
		"time-out too short":    {func(d *Device) { d.Timeout = time.Millisecond }, "whole seconds"},
		"time-out with parts":   {func(d *Device) { d.Timeout = 1500 * time.Millisecond }, "whole seconds"},
		"negative time-out":     {func(d *Device) { d.Timeout = -time.Second }, "whole seconds"},
		"time-out too long":     {func(d *Device) { d.Timeout = MaxTimeout + time.Second }, "24h"},
		"dead for ever":         {func(d *Device) { d.DeadConnTimeout = Forever }, ""},
		"dead too long":         {func(d *Device) { d.DeadConnTimeout = Forever - time.Second }, "unlimited"},
		"time-out for ever":     {func(d *Device) { d.Timeout = Forever }, "24h"},
		"dead time-out":         {func(d *Device) { d.DeadConnTimeout = time.Minute }, ""},
		"negative dead":         {func(d *Device) { d.DeadConnTimeout = -time.Second }, "dead connections"},
		"most connections":      {func(d *Device) { d.Connections = MaxConnections }, ""},
		"too many connections":  {func(d *Device) { d.Connections = MaxConnections + 1 }, "17 connections"},
		"negative connections":  {func(d *Device) { d.Connections = -1 }, "-1 connections"},
		"no identifier":         {func(d *Device) { d.Identifier = "" }, "identifier"},
		"identifier with blank": {func(d *Device) { d.Identifier = "a b" }, "without blanks"},
		"identifier of lines":   {func(d *Device) { d.Identifier = "a\n" }, "without blanks"},
		"longest identifier":    {func(d *Device) { d.Identifier = strings.Repeat("x", 255) }, ""},
		"long identifier":       {func(d *Device) { d.Identifier = strings.Repeat("x", 256) }, "255"},
	} {
		t.Run(name, func(t *testing.T) {
			err := sample(test.change).withDefaults().validate()
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%v, wanted it to say %q", err, test.says)
			}
		})
	}
}

func TestFit(t *testing.T) {
	const sound = hasFlags | sendFlush
	several := sample(func(d *Device) { d.Connections = 2 })
	for name, test := range map[string]struct {
		device Device
		offer  offer
		says   string // empty: it fits
	}{
		"sound":           {sample(nil), offer{8192, sound}, ""},
		"several":         {several, offer{8192, sound | canMultiConn}, ""},
		"empty":           {sample(nil), offer{0, sound}, "size is 0"},
		"odd size":        {sample(nil), offer{8193, sound}, "8193 bytes is not a multiple of the block size 4096"},
		"read-only":       {sample(nil), offer{8192, sound | readOnly}, "read-only"},
		"without flush":   {sample(nil), offer{8192, hasFlags}, "durable"},
		"one connection":  {several, offer{8192, sound}, "one connection, not 2"},
		"of no use at it": {sample(nil), offer{}, "size is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.offer.fit(test.device.withDefaults())
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (!errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%v, wanted it to say %q", err, test.says)
			}
		})
	}
}

func TestFreeIndex(t *testing.T) {
	all := make([]int, MaxIndex+1)
	for i := range all {
		all[i] = i
	}
	for _, test := range []struct {
		taken [][]int
		want  int
	}{
		{nil, 0},
		{[][]int{{1, 2}}, 0},
		{[][]int{{2, 0}, {1, 4}}, 3},
		{[][]int{all[:MaxIndex]}, MaxIndex},
	} {
		if got, err := FreeIndex(test.taken...); err != nil || got != test.want {
			t.Errorf("%d, %v, wanted %d", got, err, test.want)
		}
	}
	if _, err := FreeIndex(slices.Clone(all)); !errors.Is(err, ErrNoFreeIndex) {
		t.Error(err)
	}
}

func TestIdentify(t *testing.T) {
	if Identify("a", "1") == Identify("a", "2") || validIdentifier(Identify("pool-a", "6c9b2f0e@2026-01-02T03:04:05Z")) != nil {
		t.Error("identifiers are equal or invalid")
	}
	// A hash replaces a name as long as Kubernetes allows, ahead of the same life.
	long := strings.Repeat("x", 253)
	one, two := Identify(long+"/store/disk0", "6c9b2f0e-0000-4000-8000-000000000000"), Identify(long+"/store/disk1", "6c9b2f0e-0000-4000-8000-000000000000")
	if one == two || one != Identify(long+"/store/disk0", "6c9b2f0e-0000-4000-8000-000000000000") || validIdentifier(one) != nil {
		t.Errorf("%q, %q", one, two)
	}
	if life, ours := strings.CutPrefix(one, Identify(long+"/store/disk0", "")); !ours || life != "6c9b2f0e-0000-4000-8000-000000000000" {
		t.Errorf("%q does not end with its life", one)
	}
}
