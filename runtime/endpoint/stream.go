package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
)

const streamReadSize = 16 << 10

// sendStream sends the stream of an extension, each piece as soon as it is read.
func (req *resourceRequest) sendStream() error {
	ctx, cancel := context.WithCancel(req.r.Context())
	defer cancel()
	stream, err := req.extension.handle.Stream(ctx, req.namespace, req.requestInfo.Name, req.query)
	if err != nil {
		return err
	}
	// Closing the stream ends a Read that waits when the client closes the connection.
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	defer func() {
		if stop() {
			_ = stream.Close() // the stream was read to its end, or nobody reads on
		}
	}()
	return req.copyStream(ctx, stream.ContentType, stream)
}

// copyStream begins the answer with the first piece, so that the error of a stream that fails before it has a status.
func (req *resourceRequest) copyStream(ctx context.Context, contentType string, stream io.Reader) error {
	flusher := http.NewResponseController(req.w)
	buffer := make([]byte, streamReadSize)
	for begun := false; ; {
		n, err := stream.Read(buffer)
		if ctx.Err() != nil {
			return nil // the client or the server ended the request, which isn't an error
		}
		if !begun && n == 0 && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !begun {
			begun = true
			req.w.Header().Set("Content-Type", contentType)
			req.w.Header().Set("X-Content-Type-Options", "nosniff")
			req.w.WriteHeader(http.StatusOK)
		}
		if n > 0 {
			if _, failed := req.w.Write(buffer[:n]); failed != nil {
				return nil // the client closed the connection
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
	}
}
