package pgbench

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// rules read the lines above all sections: what follows prefix goes to read.
var rules = []struct {
	prefix string
	read   func(*Result, string) error
}{
	{"pgbench (", version},
	{"transaction type: ", func(r *Result, v string) error { r.Script = v; return nil }},
	{"scaling factor: ", func(r *Result, v string) error { return scan(v, &r.Scale) }},
	{"partition method: ", func(r *Result, v string) error { r.PartitionMethod = v; return nil }},
	{"partitions: ", func(r *Result, v string) error { return scan(v, &r.Partitions) }},
	{"query mode: ", func(r *Result, v string) error { r.QueryMode = v; return nil }},
	{"number of clients: ", func(r *Result, v string) error { return scan(v, &r.Clients) }},
	{"number of threads: ", func(r *Result, v string) error { return scan(v, &r.Threads) }},
	{"maximum number of tries: ", func(r *Result, v string) error { return scan(v, &r.MaxTries) }},
	{"duration: ", duration},
	{"number of transactions per client: ", func(r *Result, v string) error { return scan(v, &r.PerClient) }},
	{"number of transactions actually processed: ", processed},
	{"number of transactions above the ", late},
	{"rate limit schedule lag: avg ", lag},
	{"initial connection time = ", func(r *Result, v string) error { return scan(v, &r.InitialConnectionTime) }},
	{"average connection time = ", func(r *Result, v string) error { return scan(v, &r.AverageConnectionTime) }},
	{"tps = ", tps},
}

// scan reads the first word of text, a count or a figure, without the sign that may end it.
// pgbench prints NaN where it divided by nothing; scan returns zero for that.
func scan(text string, into any) error {
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, "%,)")
	switch v := into.(type) {
	case *int:
		n, err := count(word, 32)
		*v = int(n)
		return err
	case *int64:
		n, err := count(word, 64)
		*v = n
		return err
	case *float64:
		f, err := figure(word)
		*v = f
		return err
	}
	return fmt.Errorf("cannot scan into %T", into)
}

func count(word string, bits int) (int64, error) {
	n, err := strconv.ParseInt(word, 10, bits)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a count", word)
	}
	return n, nil
}

func figure(word string) (float64, error) {
	if word == "-nan" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a figure", word)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, nil
	}
	return f, nil
}

// version reads "17.6)", "17.6, server 16.2)" and what packagers add to either,
// as "15.18 (Debian 15.18-0+deb12u1))".
func version(r *Result, v string) error {
	client, server, _ := strings.Cut(v, ", server ")
	r.Version = firstWord(client)
	r.ServerVersion = firstWord(server)
	if r.Version == "" {
		return fmt.Errorf("want a version")
	}
	return nil
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return strings.TrimRight(word, ")")
}

func duration(r *Result, v string) error {
	var seconds int
	if err := scan(v, &seconds); err != nil {
		return err
	}
	r.Duration = time.Duration(seconds) * time.Second
	return nil
}

// processed reads "120" and, of a run by number, "120/240".
func processed(r *Result, v string) error {
	done, expected, limited := strings.Cut(v, "/")
	if err := scan(done, &r.Transactions); err != nil || !limited {
		return err
	}
	return scan(expected, &r.Expected)
}

// late reads "1.0 ms latency limit: 529/3832 (13.805%)". PostgreSQL 14 prints a space before
// the percent sign.
func late(r *Result, v string) error {
	limit, rest, ok := strings.Cut(v, " ms latency limit: ")
	if !ok {
		return fmt.Errorf("want \"ms latency limit:\"")
	}
	if err := scan(limit, &r.LatencyLimit); err != nil {
		return err
	}
	count, _, _ := strings.Cut(rest, "/")
	return scan(count, &r.Late)
}

// lag reads "0.167 (max 2.193) ms".
func lag(r *Result, v string) error {
	avg, most, ok := strings.Cut(v, " (max ")
	if !ok {
		return fmt.Errorf("want \"(max\"")
	}
	if err := scan(avg, &r.LagAvg); err != nil {
		return err
	}
	return scan(most, &r.LagMax)
}

func tps(r *Result, v string) error {
	r.Reconnects = strings.HasSuffix(v, "(including reconnection times)")
	return scan(v, &r.TPS)
}

// counts reads the lines that the whole report and its sections share.
func counts(c *Counts, item string) (known bool, err error) {
	key, value, _ := strings.Cut(item, ": ")
	into := map[string]*int64{
		"number of failed transactions":    &c.Failed,
		"number of serialization failures": &c.SerializationFailures,
		"number of deadlock failures":      &c.DeadlockFailures,
		"number of other failures":         &c.OtherFailures,
		"number of transactions retried":   &c.Retried,
		"total number of retries":          &c.Retries,
		"number of transactions skipped":   &c.Skipped,
	}[key]
	if into == nil {
		return false, nil
	}
	return true, scan(value, into)
}

func latency(l *Latency, item string) (known bool, err error) {
	if value, ok := strings.CutPrefix(item, "latency average = "); ok {
		l.LatencyIncludesFailures = strings.HasSuffix(value, "(including failures)")
		return true, scan(value, &l.LatencyAvg)
	}
	if value, ok := strings.CutPrefix(item, "latency stddev = "); ok {
		return true, scan(value, &l.LatencyStddev)
	}
	return false, nil
}

// scriptTransactions reads "58 transactions (48.3% of total, tps = 2009.562747)".
// Development versions after 18 count all transactions there and say the
// processed ones, with the TPS, on a line of their own.
func scriptTransactions(s *Script, item string) (known bool, err error) {
	if value, ok := strings.CutPrefix(item, "number of transactions actually processed: "); ok {
		_, rate, _ := strings.Cut(value, "(tps = ")
		if err := scan(value, &s.Transactions); err != nil {
			return true, err
		}
		return true, scan(rate, &s.TPS)
	}
	count, rest, ok := strings.Cut(item, " transactions (")
	if !ok {
		return false, nil
	}
	if err := scan(count, &s.Transactions); err != nil {
		return true, err
	}
	if _, rate, ok := strings.Cut(rest, "tps = "); ok {
		return true, scan(rate, &s.TPS)
	}
	return true, nil
}
