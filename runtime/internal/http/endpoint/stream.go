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
	buffer := make([]byte, streamReadSize)
	for begun := false; ; {
		n, err := stream.Read(buffer)
		if ended(ctx) {
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
		if !req.sendPiece(buffer[:n], err == nil) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client must not take a part for the whole
		}
	}
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// sendPiece writes a piece, and flushes it if more follows. It reports false if the client closed the connection.
func (req *resourceRequest) sendPiece(piece []byte, more bool) bool {
	if len(piece) > 0 {
		if _, err := req.w.Write(piece); err != nil {
			return false
		}
	}
	if !more {
		return true
	}
	err := http.NewResponseController(req.w).Flush()
	return err == nil || errors.Is(err, http.ErrNotSupported)
}
