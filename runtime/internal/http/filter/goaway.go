package filter

import (
	"math/rand/v2"
	"net/http"
)

// GoAway ends the connection of a request of HTTP/2 with a probability, so that clients whose connections last for ever
// spread over all servers behind a balancer again. The requests under way on the connection go on, and clients send
// others over a new one. It returns nil if the chance is 0.
func GoAway(chance float64) Filter {
	if chance <= 0 {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 2 && rand.Float64() < chance {
				w.Header().Set("Connection", "close") // net/http sends GOAWAY, and no such header
			}
			next.ServeHTTP(w, r)
		})
	}
}
