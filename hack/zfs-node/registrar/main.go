// Command registrar registers a CSI driver with the kubelet of its node, as
// kubernetes-csi/node-driver-registrar does, whose module proxies do not serve.
// Usage: registrar SOCKET-IN-PLUGINS-REGISTRY DRIVER SOCKET-OF-DRIVER
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

type server struct {
	registration.UnimplementedRegistrationServer
	driver, endpoint string
}

// GetInfo is asked by the kubelet when it finds the socket.
func (s *server) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: s.driver, Endpoint: s.endpoint, SupportedVersions: []string{"1.0.0"}}, nil
}

// NotifyRegistrationStatus ends the program where the kubelet refused, so that
// its container is started again and asks again.
func (s *server) NotifyRegistrationStatus(_ context.Context, status *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %v %s", status.PluginRegistered, status.Error)
	if !status.PluginRegistered {
		os.Exit(1)
	}
	return &registration.RegistrationStatusResponse{}, nil
}

// await the driver's socket: the kubelet calls the driver at once, and one that it
// does not reach is refused.
func await(endpoint string) {
	for {
		conn, err := net.Dial("unix", endpoint)
		if err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func run(socket, driver, endpoint string) error {
	await(endpoint)
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	registration.RegisterRegistrationServer(g, &server{driver: driver, endpoint: endpoint})
	return g.Serve(listener)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: registrar SOCKET-IN-PLUGINS-REGISTRY DRIVER SOCKET-OF-DRIVER")
		os.Exit(2)
	}
	log.Fatal(run(os.Args[1], os.Args[2], os.Args[3]))
}
