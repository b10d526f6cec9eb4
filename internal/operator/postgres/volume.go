package postgres

import "fmt"

// cnpgKeep is CloudNativePG's default of wal_keep_size.
const cnpgKeep = 512 * mB

// segment of WAL in bytes.
func (in Inputs) segment() int64 {
	if in.WALSegmentBytes > 0 {
		return in.WALSegmentBytes
	}
	return 16 * mB
}

// volume that WAL is on, how much of it max_wal_size and wal_keep_size may take, and
// the words for it.
func (in Inputs) volume() (bytes, limit, keep int64, text string) {
	if in.WALBytes > 0 {
		return in.WALBytes, in.WALBytes / 2, in.WALBytes / 8, amount(in.WALBytes) + " WAL volume"
	}
	return in.DataBytes, in.DataBytes / 10, in.DataBytes / 20, amount(in.DataBytes) + " data volume"
}

// wal sizes. After a checkpoint the volume holds wal_keep_size, and until the next
// one max_wal_size is written to it, so that both count.
func (c *computation) wal() {
	keep := c.keep()
	segment := c.in.segment()
	highest, reason := c.class.maxWAL, "WAL between checkpoints of the class"
	if bytes, limit, _, text := c.in.volume(); bytes > 0 && highest > limit {
		share := map[bool]string{true: "half", false: "a tenth"}[c.in.WALBytes > 0]
		highest, reason = max(limit, 4*segment), "held to "+share+" of the "+text
		if highest+keep >= bytes { // a volume this small cannot hold a database either
			highest, reason = max((bytes-keep)/2, 2*segment), "held to half of what wal_keep_size leaves of the "+text
		}
	}
	c.size("max_wal_size", highest, reason)
	highest = c.number("max_wal_size", highest/mB) * mB
	lowest, reason := c.class.minWAL, "WAL kept for reuse of the class"
	if lowest < 2*segment {
		lowest, reason = 2*segment, "two segments of WAL, without which Postgres does not start"
	}
	if lowest > highest/2 {
		lowest, reason = max(highest/2, 2*segment), "half of max_wal_size"
	}
	c.size("min_wal_size", lowest, reason)
	c.add("checkpoint_completion_target", "0.9", "spread checkpoints")
}

// keep is what wal_keep_size holds back: CloudNativePG's 512MB, or less on a small
// volume.
func (c *computation) keep() int64 {
	bytes, _, limit, text := c.in.volume()
	if bytes > 0 && limit < cnpgKeep {
		if highest := c.number("max_wal_size", 0) * mB; highest > 0 {
			limit = max(min(limit, (bytes-highest)/2), 0)
		}
		segment := c.in.segment()
		c.set("wal_keep_size", c.print("wal_keep_size", limit/segment*segment),
			fmt.Sprintf("held to a part of the %s: CloudNativePG's 512MB counts against it beside max_wal_size", text))
	}
	return c.number("wal_keep_size", c.numbers()["wal_keep_size"]/mB) * mB
}

// fitsVolume refuses one size that the volume cannot hold.
func (in Inputs) fitsVolume(name, value string, bytes float64) *Refusal {
	volume, _, _, text := in.volume()
	if least := 2 * in.segment(); bytes < float64(least) && (name == "min_wal_size" || name == "max_wal_size") {
		return refuse(name, RefusedRange, "%s is below two WAL segments, with which Postgres does not start; use at least %s", value, amount(least))
	}
	where := "spec.storage.size"
	if in.WALBytes > 0 {
		where = "spec.storage.walSize"
	}
	if name == "temp_file_limit" {
		volume, text, where = in.DataBytes, amount(in.DataBytes)+" data volume", "spec.storage.size"
	}
	if volume > 0 && bytes >= float64(volume) {
		return refuse(name, RefusedVolume, "%s is not below the %s; lower it, or raise %s", value, text, where)
	}
	return nil
}

// fullVolume refuses WAL sizes that fit alone but not beside each other.
func (in Inputs) fullVolume(given map[string]string, v numbers) *Refusal {
	bytes, _, _, text := in.volume()
	highest, keep := v["max_wal_size"], v["wal_keep_size"]
	if bytes <= 0 || highest+keep < bytes {
		return nil
	}
	name, other := "wal_keep_size", "max_wal_size"
	if _, ok := given[name]; !ok || given[other] != "" && highest > keep {
		name, other = other, name
	}
	if _, ok := given[name]; !ok {
		return nil
	}
	return refuse(name, RefusedVolume, "%s and %s of %s fill the %s; lower one, or raise spec.storage", given[name], other, amount(v[other]), text)
}

// minAboveMax refuses min_wal_size that is not below max_wal_size.
func (in Inputs) minAboveMax(given map[string]string, v numbers) *Refusal {
	if v["min_wal_size"] < v["max_wal_size"] {
		return nil
	}
	if value, ok := given["min_wal_size"]; ok {
		return refuse("min_wal_size", RefusedRange, "%s is not below max_wal_size (%s); lower it, or raise max_wal_size", value, amount(v["max_wal_size"]))
	}
	if value, ok := given["max_wal_size"]; ok {
		return refuse("max_wal_size", RefusedRange, "%s is not above min_wal_size (%s); use at least %s", value, amount(v["min_wal_size"]), amount(4*in.segment()))
	}
	return nil
}

// largeSegments refuses segments of which the volume holds too few.
func (in Inputs) largeSegments(map[string]string, numbers) *Refusal {
	bytes, _, _, text := in.volume()
	if bytes <= 0 || 8*in.segment() <= bytes || in.WALSegmentBytes == 0 {
		return nil
	}
	return &Refusal{"wal_segment_size", RefusedVolume, fmt.Sprintf("spec.cnpg.spec.bootstrap.initdb.walSegmentSize: the %s does not hold eight segments of %s; use smaller segments, or raise spec.storage", text, amount(in.segment()))}
}
