package zfs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// jsonStatus is `zpool status -j -P -p` of 2.3 and later, as far as it is read. Source:
// status_callback_json in cmd/zpool/zpool_main.c.
type jsonStatus struct {
	Pools map[string]jsonPool `json:"pools"`
}

type jsonPool struct {
	State   Health    `json:"state"`
	Status  string    `json:"status"`
	Action  string    `json:"action"`
	See     string    `json:"moreinfo"`
	Message string    `json:"msgid"`
	Scan    *jsonScan `json:"scan_stats"`
	Errors  jsonWord  `json:"error_count"`
	// Vdevs has one member, the pool itself.
	Vdevs   jsonVdevs `json:"vdevs"`
	Dedup   jsonVdevs `json:"dedup"`
	Special jsonVdevs `json:"special"`
	Logs    jsonVdevs `json:"logs"`
	Cache   jsonVdevs `json:"l2cache"`
	Spares  jsonVdevs `json:"spares"`
}

type jsonScan struct {
	Function string   `json:"function"`
	State    string   `json:"state"`
	Start    jsonWord `json:"start_time"`
	End      jsonWord `json:"end_time"`
	Paused   jsonWord `json:"scrub_pause"`
	Errors   jsonWord `json:"errors"`
}

type jsonVdev struct {
	Name     string    `json:"name"`
	State    Health    `json:"state"`
	Read     jsonWord  `json:"read_errors"`
	Write    jsonWord  `json:"write_errors"`
	Checksum jsonWord  `json:"checksum_errors"`
	Was      string    `json:"was"`
	Aux      string    `json:"aux"`
	Vdevs    jsonVdevs `json:"vdevs"`
}

// jsonWord is a number, written as one or as a string.
type jsonWord string

// UnmarshalJSON takes both.
func (w *jsonWord) UnmarshalJSON(data []byte) error {
	*w = jsonWord(bytes.Trim(data, `"`))
	return nil
}

func (w jsonWord) number() uint64 {
	n, _ := number(string(w))
	return n
}

// jsonVdevs is an object whose members have an order, which a map would lose.
type jsonVdevs []jsonVdev

// UnmarshalJSON keeps the order.
func (v *jsonVdevs) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("vdevs are not an object: %w", err)
	}
	for d.More() {
		if _, err := d.Token(); err != nil {
			return err
		}
		var one jsonVdev
		if err := d.Decode(&one); err != nil {
			return err
		}
		*v = append(*v, one)
	}
	return nil
}

func parseStatusJSON(out, name string) (Status, error) {
	var all jsonStatus
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return Status{}, fmt.Errorf("%w: zpool status -j of %s: %w", ErrFormat, name, err)
	}
	p, ok := all.Pools[name]
	if !ok || p.State == "" || len(p.Vdevs) != 1 {
		return Status{}, fmt.Errorf("%w: zpool status -j of %s: pool, state or vdevs are missing", ErrFormat, name)
	}
	s := Status{
		Name: name, State: p.State, Action: p.Action, See: p.See,
		Scan: p.Scan.scan(), DataErrors: int(min(p.Errors.number(), 1<<30)),
	}
	if p.Status != "OK" {
		s.Explanation = p.Status
	}
	for _, class := range []struct {
		name  Class
		vdevs jsonVdevs
	}{
		{Data, p.Vdevs[0].Vdevs}, {Dedup, p.Dedup}, {Special, p.Special},
		{Logs, p.Logs}, {Cache, p.Cache}, {Spares, p.Spares},
	} {
		s.Vdevs = append(s.Vdevs, class.vdevs.status(class.name)...)
	}
	if len(s.Vdevs) == 0 {
		return Status{}, fmt.Errorf("%w: zpool status -j of %s has no vdevs", ErrFormat, name)
	}
	s.Suspended = suspended(s)
	return s, nil
}

func (v jsonVdevs) status(class Class) []VdevStatus {
	var all []VdevStatus
	for _, one := range v {
		s := VdevStatus{
			Class: class, Name: one.Name, Type: vdevType(one.Name), State: one.State,
			Read: one.Read.number(), Write: one.Write.number(), Checksum: one.Checksum.number(),
			Note: strings.ToLower(one.Aux), Children: one.Vdevs.status(class),
		}
		if one.Was != "" {
			s.Note = "was " + one.Was
		}
		all = append(all, s)
	}
	return all
}

// scan of a pool that had none has no scan_stats, or the function NONE.
func (j *jsonScan) scan() Scan {
	s := Scan{State: ScanNone}
	if j == nil {
		return s
	}
	s.Resilver = j.Function == "RESILVER"
	s.Text = strings.ToLower(j.Function + " " + j.State)
	at := j.End
	switch j.State {
	case "SCANNING":
		s.State, at = ScanInProgress, j.Start
		if j.Paused.number() > 0 {
			s.State, at = ScanPaused, j.Paused
		}
	case "FINISHED":
		s.State, s.Errors = ScanFinished, j.Errors.number()
	case "CANCELED":
		s.State = ScanCanceled
	default:
		return s
	}
	if seconds := at.number(); seconds > 0 {
		s.At = time.Unix(int64(min(seconds, 1<<40)), 0).UTC()
	}
	return s
}
