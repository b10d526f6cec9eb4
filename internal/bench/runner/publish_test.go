package runner

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// arrival is a report and when it came, by the clock of a synctest bubble.
type arrival struct {
	percent int32
	after   time.Duration
}

// collector takes reports, and fails a given number of them.
type collector struct {
	began    time.Time
	failing  int
	hang     bool
	arrivals []arrival
	tries    int
}

func (c *collector) Report(ctx context.Context, r RunStatus) error {
	c.tries++
	if c.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if c.failing > 0 {
		c.failing--
		return errors.New("API server is away")
	}
	c.arrivals = append(c.arrivals, arrival{r.Percent, time.Since(c.began)})
	return nil
}

func publishing(t *testing.T, c *collector) *publisher {
	t.Helper()
	c.began = time.Now()
	return startPublisher(t.Context(), c, clock.RealClock{}, slog.New(slog.DiscardHandler))
}

func TestReportsAreThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		p := publishing(t, c)
		for i := range int32(50) {
			p.publish(RunStatus{Percent: i})
			<-time.After(100 * time.Millisecond) // of the bubble's clock: it takes no time
		}
		if err := p.close(t.Context(), RunStatus{Percent: 100}); err != nil {
			t.Fatal(err)
		}
		if n := len(c.arrivals); n < 3 || n > 4 {
			t.Errorf("%d reports in 5 s", n)
		}
		for i := 1; i < len(c.arrivals)-1; i++ {
			if gap := c.arrivals[i].after - c.arrivals[i-1].after; gap < interval {
				t.Errorf("two reports within %s", gap)
			}
		}
		if last := c.arrivals[len(c.arrivals)-1]; last.percent != 100 {
			t.Errorf("the last report is lost: %+v", c.arrivals)
		}
	})
}

func TestLostReportIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{failing: 3}
		p := publishing(t, c)
		if err := p.close(t.Context(), RunStatus{Percent: 100}); err != nil {
			t.Fatal(err)
		}
		if len(c.arrivals) != 1 || c.arrivals[0].percent != 100 || c.arrivals[0].after < 3*time.Second {
			t.Errorf("want one report after three pauses, got %+v", c.arrivals)
		}
	})
}

func TestNewerReportOvertakesLostOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{failing: 1}
		p := publishing(t, c)
		p.publish(RunStatus{Percent: 1})
		synctest.Wait()
		p.publish(RunStatus{Percent: 2})
		<-time.After(time.Second) // of the bubble's clock
		synctest.Wait()
		if len(c.arrivals) != 1 || c.arrivals[0].percent != 2 {
			t.Errorf("%+v", c.arrivals)
		}
		if err := p.close(t.Context(), RunStatus{Percent: 3}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReportThatNeverEndsHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{hang: true}
		ctx, cancel := context.WithCancel(t.Context())
		p := startPublisher(ctx, c, clock.RealClock{}, slog.New(slog.DiscardHandler))
		began := time.Now()
		for i := range int32(100) {
			p.publish(RunStatus{Percent: i})
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("publish took %s", took)
		}
		last, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		if err := p.close(last, RunStatus{Percent: 100}); !errors.Is(err, errLost) {
			t.Errorf("want errLost, got %v", err)
		}
		cancel()
		synctest.Wait()
		if c.tries < 3 {
			t.Errorf("%d tries in a minute", c.tries)
		}
	})
}

// When the runner must stop, it tries the last report for seconds only.
func TestLastReportHastens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Setenv("PGDATABASE", "app")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := &Runner{Reporter: &collector{hang: true}, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
		began := time.Now()
		_, err := r.Run(ctx)
		if !errors.Is(err, errLost) || time.Since(began) != lastReportHaste {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
