package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// outputSize is how much of an output is read at once.
const outputSize = 16 << 10

// send sends an output as it comes, until it ends or the client goes. Each piece that is read is sent at once.
func (c *call) send() error {
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	output, err := c.extension.handle.Stream(ctx, c.namespace, c.info.Name, c.query)
	if err != nil {
		return err
	}
	// A Read that waits for more ends when the client is gone.
	stop := context.AfterFunc(ctx, func() { _ = output.Close() })
	defer func() {
		if stop() {
			_ = output.Close() // everything was read, or nobody reads on
		}
	}()
	return c.copyOutput(ctx, output.ContentType, output)
}

// copyOutput begins the answer with the first piece: an output that fails before it is an error with a status.
func (c *call) copyOutput(ctx context.Context, contentType string, output io.Reader) error {
	var dog watchdog
	defer dog.end()
	flusher := http.NewResponseController(c.w)
	buffer := make([]byte, outputSize)
	for begun := false; ; {
		n, err := output.Read(buffer)
		if ctx.Err() != nil {
			return nil // the client or the server: nothing that anybody must be told
		}
		if !begun && n == 0 && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !begun {
			begun = true
			c.w.Header().Set("Content-Type", contentType)
			c.w.Header().Set("X-Content-Type-Options", "nosniff")
			c.w.WriteHeader(http.StatusOK)
		}
		dog.watch(c.w, c.api.writeTimeout)
		if n > 0 {
			if _, failed := c.w.Write(buffer[:n]); failed != nil {
				return nil // the client went away
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				panic(http.ErrAbortHandler) // the client must not take a part for the whole
			}
			return nil
		}
		if failed := flusher.Flush(); failed != nil && !errors.Is(failed, http.ErrNotSupported) {
			return nil
		}
		dog.rest()
	}
}
