package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// https is a client without kubectl: it reads the admin kubeconfig and sends requests.
type https struct {
	project, url string
	client       *http.Client
}

// kubeconfig holds the fields of a kubeconfig that https reads.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string `json:"server"`
			CA     []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		User struct {
			Certificate []byte `json:"client-certificate-data"`
			Key         []byte `json:"client-key-data"`
		} `json:"user"`
	} `json:"users"`
}

func (h *https) reconnect() error {
	content, err := os.ReadFile(filepath.Join(h.project, "data", "admin.kubeconfig"))
	if err != nil {
		return err
	}
	var config kubeconfig
	if err := yaml.Unmarshal(content, &config); err != nil {
		return err
	}
	if len(config.Clusters) == 0 || len(config.Users) == 0 {
		return errors.New("the kubeconfig names no cluster or no user")
	}
	user := config.Users[0].User
	pair, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Clusters[0].Cluster.CA)
	h.url = config.Clusters[0].Cluster.Server
	h.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
	}}
	return nil
}

func (h *https) request(ctx context.Context, method, path, contentType, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, h.url+path, bytes.NewBufferString(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		if contentType == "" {
			contentType = "application/json"
		}
		r.Header.Set("Content-Type", contentType)
	}
	return h.client.Do(r)
}

func (h *https) run(ctx context.Context, st step) (string, bool) {
	fmt.Printf("> %s %s %s\n", st.method, st.path, shorten(st.body))
	response, err := h.request(ctx, st.method, st.path, st.contentType, st.body)
	if err != nil {
		fmt.Println(err)
		return err.Error(), true
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		fmt.Println(err)
		return err.Error(), true
	}
	fmt.Printf("< %s %s\n", response.Status, shorten(strings.TrimSpace(string(body))))
	// Messages in a Status have their quotes escaped; the steps don't.
	return strings.ReplaceAll(string(body), `\"`, `"`), response.StatusCode >= 400
}

func (h *https) object(ctx context.Context) (string, error) {
	response, err := h.request(ctx, "GET", sample, "", "")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(body), err
}

func (h *https) watch(ctx context.Context) (*watching, error) {
	fmt.Printf("> GET %s?watch=1 &\n", base)
	ctx, cancel := context.WithCancel(ctx)
	response, err := h.request(ctx, "GET", base+"?watch=1", "", "")
	if err != nil {
		cancel()
		return nil, err
	}
	return follow(response.Body, func() { cancel(); _ = response.Body.Close() }), nil
}
