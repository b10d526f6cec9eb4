package relay

import (
	"maps"
	"slices"
	"testing"
)

// model of a server and the devices of its clients, without connections: every step is
// done at once, so that a test chooses the order. The relay's part is its own code.
type model struct {
	*testing.T
	schedule
	clock uint64
	// life of the server.
	life    uint64
	devices []*modelDevice
	// durable changes of the server, and volatile ones that it loses when it ends.
	durable, volatile map[*request]bool
	// flushing is what the flush under way makes durable; nil: none is under way.
	flushing map[*request]bool
	changes  uint64
}

// modelDevice follows the steps of an export.
type modelDevice struct {
	journal
	// life that the device is connected to.
	life, latest uint64
	flushes      []*modelFlush
	// results of the server's flushes that the device has not seen yet.
	results []modelResult
}

type modelResult struct{ life, mark uint64 }

// modelFlush of a client: the changes that were answered before it arrived.
type modelFlush struct {
	answered uint64
	promised []*request
}

func newModel(t *testing.T) *model {
	m := &model{T: t, life: 1, durable: map[*request]bool{}, volatile: map[*request]bool{}}
	for range 3 {
		m.devices = append(m.devices, &modelDevice{life: 1})
	}
	return m
}

// step of one device or of the server.
func (m *model) step(kind byte, device int) {
	d := m.devices[device]
	switch kind {
	case 0, 1:
		m.change(d)
	case 2:
		m.flush(d)
	case 3:
		m.succeed()
	case 4:
		m.crash()
	case 5:
		m.reconnect(d)
	case 6:
		m.receive(d)
	}
}

// change is stored by the server and answered.
func (m *model) change(d *modelDevice) {
	if d.life != m.life {
		return
	}
	m.changes++
	r := &request{header: header{op: opWrite}, number: m.changes, kept: true}
	m.store(d, r)
	d.add(r)
}

func (m *model) store(d *modelDevice, r *request) {
	m.volatile[r] = true
	m.clock++
	r.stored, d.latest = m.clock, m.clock
}

// flush of the client.
func (m *model) flush(d *modelDevice) {
	f := &modelFlush{answered: d.answers, promised: slices.Clone(d.list)}
	if d.empty() {
		m.done(f)
		return
	}
	d.flushes = append(d.flushes, f)
	if d.life == m.life {
		m.cover(d)
	}
}

// cover does what flusher.cover does.
func (m *model) cover(d *modelDevice) {
	if m.renew(d.life) {
		m.flushing = nil
	}
	m.want(d.latest)
	m.proceed()
}

func (m *model) proceed() {
	if m.due() {
		m.begin(m.clock)
		m.flushing = maps.Clone(m.volatile)
	}
}

// succeed ends the server's flush under way.
func (m *model) succeed() {
	if m.flushing == nil {
		return
	}
	maps.Copy(m.durable, m.flushing)
	maps.DeleteFunc(m.volatile, func(r *request, _ bool) bool { return m.flushing[r] })
	m.flushing = nil
	mark, life := m.succeeded(), m.schedule.life
	m.proceed()
	for _, d := range m.devices {
		d.results = append(d.results, modelResult{life, mark})
	}
}

// receive the next result of a flush, as export.covered does.
func (m *model) receive(d *modelDevice) {
	if len(d.results) == 0 {
		return
	}
	result := d.results[0]
	d.results = d.results[1:]
	if d.life != result.life {
		return
	}
	d.covered(result.mark)
	durable := d.durable()
	d.flushes = slices.DeleteFunc(d.flushes, func(f *modelFlush) bool {
		if f.answered > durable {
			return false
		}
		m.done(f)
		return true
	})
}

// done answers a flush: everything that it promises has to be durable.
func (m *model) done(f *modelFlush) {
	for _, r := range f.promised {
		if !m.durable[r] {
			m.Fatalf("change %d was answered before a flush, and is not durable after it", r.number)
		}
	}
}

// crash ends the server, which loses what it had not flushed, and starts it again. The
// devices notice later, each at its own time.
func (m *model) crash() {
	m.life++
	clear(m.volatile)
	m.flushing = nil
}

// reconnect a device, and repeat what it keeps.
func (m *model) reconnect(d *modelDevice) {
	d.unstored()
	d.life, d.latest = m.life, 0
	for _, r := range d.list {
		m.store(d, r)
	}
	if !d.empty() {
		m.cover(d)
	}
}

// settle: once the server stays, every flush is answered.
func (m *model) settle() {
	for _, d := range m.devices {
		m.reconnect(d)
	}
	for range 3 {
		m.succeed()
	}
	for i, d := range m.devices {
		for len(d.results) > 0 {
			m.receive(d)
		}
		if len(d.flushes) > 0 || !d.empty() {
			m.Fatalf("device %d keeps %d changes, and %d flushes wait", i, len(d.list), len(d.flushes))
		}
	}
}
