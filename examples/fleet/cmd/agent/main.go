// Command agent runs on board of a ship, at the ship's status.address.
package main

import (
	"flag"
	"log"
	"net/http"
	"time"

	"example.com/fleet/internal/agent"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8090", "where to listen")
	flag.Parse()
	a := new(agent.Agent)
	a.Logf("on board since %s", time.Now().Format(time.RFC3339))
	log.Printf("agent on http://%s", *address)
	server := &http.Server{Addr: *address, Handler: a, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
