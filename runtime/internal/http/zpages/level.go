package zpages

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
)

// Level returns the handler of /debug/flags/v: PUT of a number sets the verbosity of the log. A verbosity of 0, with
// which a server begins, logs what slog's level Info does, and one of 4 or more what Debug does.
func Level(level *slog.LevelVar) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			answer(w, http.StatusNotAcceptable, "unsupported http method")
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, 64))
		if err != nil {
			answer(w, http.StatusBadRequest, "error reading request body: "+err.Error())
			return
		}
		verbosity, err := strconv.ParseUint(string(body), 10, 31)
		if err != nil {
			answer(w, http.StatusBadRequest, err.Error())
			return
		}
		level.Set(-slog.Level(verbosity))
		answer(w, http.StatusOK, "successfully set klog.logging.verbosity to "+string(body))
	})
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", plainText)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // an error means that the client closed the connection
}
