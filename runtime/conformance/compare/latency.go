package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// floods are how many connections of another user ask for all objects while a client reads one object after the other.
var floods = []int{0, 50, 200}

// latencyName is the name of the line with so many connections.
func latencyName(connections int) string {
	if connections == 0 {
		return "the slowest 1 % of GETs, while nobody else asks"
	}
	return fmt.Sprintf("the slowest 1 %% of GETs, while another user's %d connections LIST", connections)
}

// latency measures, in each round and on each server, how long the slowest of a hundred GETs takes at least.
func latency(ctx context.Context, p pair, o options, connections int) (measurement, error) {
	var m measurement
	for range o.rounds {
		var slowest [2]float64
		for i, s := range p.servers {
			took, err := s.beside(ctx, connections, time.Duration(o.scale)*latencyTime/100)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			slowest[i] = percentile(took, 0.99).Seconds()
		}
		m = append(m, slowest)
	}
	return m, nil
}

// latencyTime is how long a client reads in a round.
const latencyTime = 10 * time.Second

// beside returns how long each GET of one client took, while connections of another user list.
func (s *server) beside(ctx context.Context, connections int, within time.Duration) ([]time.Duration, error) {
	if connections == 0 {
		return s.gets(ctx, within)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	flood := exec.CommandContext(ctx, s.file("flood"), "-connections", strconv.Itoa(connections),
		s.collection(s.stored), s.file("ca.crt"), s.file("flooder.crt"), s.file("flooder.key"))
	flood.Stderr = os.Stderr
	input, err := flood.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := flood.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := flood.Start(); err != nil {
		return nil, err
	}
	answers := bufio.NewScanner(output)
	for range connections { // then as many lists are under way as there may be
		if !answers.Scan() {
			return nil, errors.Join(errors.New("the flood has ended"), flood.Wait())
		}
	}
	drained := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, output)
		drained <- err
	}()
	took, err := s.gets(ctx, within)
	return took, errors.Join(err, input.Close(), <-drained, flood.Wait())
}

// gets reads one object after the other, and returns how long each took.
func (s *server) gets(ctx context.Context, within time.Duration) (took []time.Duration, err error) {
	c := s.newClient()
	defer c.http.CloseIdleConnections()
	for end := time.Now().Add(within); time.Now().Before(end) || len(took) == 0; {
		began := time.Now()
		if err := c.skip(ctx, request{url: s.collection(s.stored) + "/" + name(len(took)%100)}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// percentile returns the smallest of the times that at least such a part of them doesn't exceed.
func percentile(times []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[int(math.Ceil(part*float64(len(sorted))))-1]
}
