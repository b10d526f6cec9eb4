//go:build guest

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// firstPort of the matrix's databases.
const firstPort = 5440

// variants serves a database for each variant of the matrix at once, all with the same pages.
// It measures their turns in the order of the plan.
func variants(ctx context.Context, plan cell.Plan, facts *cell.Facts) error {
	if len(plan.Matrix.Turns) == 0 {
		return nil
	}
	facts.Properties, facts.Parameters = map[string]map[string]string{}, map[string]map[string]string{}
	b := bench{plan: plan, ports: map[string]string{}}
	instances := map[string]server.Instance{}
	for i, v := range plan.Matrix.Variants {
		instance, err := clone(ctx, plan, i, v)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		instances[v.Name] = instance
		if facts.Properties[v.Name], err = volumeSettings(ctx, plan.Pool, i); err != nil {
			return err
		}
	}
	for i, v := range plan.Matrix.Variants {
		b.ports[v.Name] = strconv.Itoa(firstPort + i)
		err := measure.Serve(ctx, instances[v.Name], b.ports[v.Name])
		if err == nil {
			facts.Parameters[v.Name], err = parameters(ctx, b.ports[v.Name])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	for _, turn := range plan.Matrix.Turns {
		c := cell.Cell{Sample: measure.Sample{Round: turn.Repeat, Configuration: turn.Variant, Durable: turn.Durable, Clients: plan.Matrix.Clients}}
		if err := b.measure(ctx, &c); err != nil {
			return fmt.Errorf("%s: %w", turn.Variant, err)
		}
		measure.Print("turn", c)
	}
	var err error
	for _, instance := range instances {
		err = errors.Join(err, instance.Stop(ctx))
	}
	return err
}

func volumesOf(i int) (data, wal string) {
	return fmt.Sprintf("pgdata/m%d", i), fmt.Sprintf("pgwal/m%d", i)
}

// clone copies the filled database to the volumes of a variant.
func clone(ctx context.Context, plan cell.Plan, i int, v cell.Variant) (server.Instance, error) {
	data, wal := volumesOf(i)
	instance := server.Instance{Data: "/srv/" + data, WAL: "/srv/" + wal, Settings: maps.Clone(plan.Matrix.Parameters)}
	maps.Copy(instance.Settings, v.Parameters)
	if _, err := server.Volume(ctx, plan.Pool+"/"+data, instance.Data, v.Data...); err != nil {
		return instance, err
	}
	if _, err := server.Volume(ctx, plan.Pool+"/"+wal, instance.WAL, v.WAL...); err != nil {
		return instance, err
	}
	return instance, measure.Clone(ctx, server.Instance{Data: dataOfDefault}, instance)
}

// volumeSettings are the properties of a variant's volumes.
func volumeSettings(ctx context.Context, pool string, i int) (map[string]string, error) {
	data, wal := volumesOf(i)
	lines, err := properties(ctx, pool, data, wal)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, line := range lines {
		field := strings.Split(line, "\t")
		if len(field) != 4 {
			return nil, fmt.Errorf("zfs get printed %q", line)
		}
		// The ratio depends on the pages: it is a figure, not a setting.
		if field[1] == "compressratio" {
			continue
		}
		name := map[string]string{pool + "/" + data: "data.", pool + "/" + wal: "wal."}[field[0]]
		settings[name+field[1]] = field[2]
	}
	return settings, nil
}

// parameters that the configuration file sets, except the port.
func parameters(ctx context.Context, port string) (map[string]string, error) {
	conn, err := pgx.Connect(ctx, server.DSN+" port="+port)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx) //nolint:errcheck // only read
	rows, err := conn.Query(ctx, `SELECT name, setting FROM pg_settings WHERE source = 'configuration file' AND name <> 'port'`)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		settings[name] = value
		return nil
	})
	return settings, err
}
