package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"
)

// watchList is a row of streams that begin with all objects, and are left at the bookmark after them.
func watchList(name string, converted bool) row {
	operate := func(ctx context.Context, c *client) (int, error) {
		version := c.stored
		if converted {
			version = c.other
		}
		n := 0
		err := c.watch(ctx, c.collection(version)+"?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"+
			"&resourceVersionMatch=NotOlderThan", func(event []byte) error {
			if bytes.Contains(event, []byte(`"k8s.io/initial-events-end":"true"`)) {
				return errLeft
			}
			n++
			return nil
		})
		if !errors.Is(err, errLeft) {
			return n, fmt.Errorf("the stream ended before the bookmark: %w", err)
		}
		return n, nil
	}
	return row{name: name, operations: 20, all: true,
		check: func(ctx context.Context, c *client, o options) error {
			n, err := operate(ctx, c)
			if err == nil && n != o.objects {
				err = fmt.Errorf("the stream began with %d objects, not %d", n, o.objects)
			}
			return err
		},
		begin: func(context.Context, turn) (work, error) {
			return work{operate: func(ctx context.Context, c *client, _ int) error {
				_, err := operate(ctx, c)
				return err
			}}, nil
		}}
}

// errLeft is what a reader of events returns that has seen enough.
var errLeft = errors.New("left")

// watch calls each for the events of a stream until it returns an error, or the stream ends with io.EOF. An event is
// valid until each returns.
func (c *client) watch(ctx context.Context, url string, each func(event []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := c.open(ctx, request{url: url})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"ERROR"`)) {
			return fmt.Errorf("an error in the stream: %s", lines.Bytes())
		}
		if err := each(lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}

// resourceVersionField finds the one of a list or an object: it stands before labels and annotations.
var resourceVersionField = regexp.MustCompile(`"resourceVersion":"(\d+)"`)

// settleTimeout bounds how long events may take.
const settleTimeout = 2 * time.Minute

// beginEvents lets clients watch the objects that operations patch. Each of them has a connection of its own.
func beginEvents(ctx context.Context, t turn) (work, error) {
	first, err := t.clients[0].get(ctx, request{url: t.collection(t.stored) + "?limit=1"})
	if err != nil {
		return work{}, err
	}
	found := resourceVersionField.FindSubmatch(first)
	if found == nil {
		return work{}, errors.New("the list has no resourceVersion")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	watchers, events := t.newClients(t.watchers), make(chan struct{}, 1000)
	var running sync.WaitGroup
	for _, c := range watchers {
		running.Go(func() { cancel(c.follow(ctx, string(found[1]), events)) })
	}
	return work{
		operate: t.patch,
		weight:  t.watchers,
		settle: func(_ context.Context, n int) error {
			late := time.After(settleTimeout)
			for i := range n * t.watchers {
				select {
				case <-events:
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-late:
					return fmt.Errorf("only %d of %d events came", i, n*t.watchers)
				}
			}
			return nil
		},
		end: func(context.Context) error {
			cancel(nil)
			running.Wait()
			closeAll(watchers)
			return nil
		},
	}, nil
}

// follow sends to events for each change from a version on. A server may end a stream; it goes on in another one.
func (c *client) follow(ctx context.Context, version string, events chan<- struct{}) error {
	for {
		err := c.watch(ctx, c.collection(c.stored)+"?watch=true&resourceVersion="+version, func(event []byte) error {
			if found := resourceVersionField.FindSubmatch(event); found != nil {
				version = string(found[1])
			}
			select {
			case events <- struct{}{}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
}
