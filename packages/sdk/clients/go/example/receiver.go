// A small shop: takes an order, creates its payment, and receives the webhook that says it is paid. Run it in the folder above:
//
//	go run ./example order 1007 49.90    creates a payment; needs QUITTANCE_URL, QUITTANCE_API_KEY and WALLET_POOL
//	go run ./example                     listens on PORT; needs SIGNING_KEYS, such as {"whk_…":"whsec_…"}
//
// Terminate TLS in a server in front of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"quittance"
)

// Go has no database, so a folder replaces it: each payment has a file with its amount, and a paid one has a second file.
var directory = os.Getenv("DATABASE")

var paymentID = regexp.MustCompile(`^pay_[0-9a-f]{32}$`)

func placeOrder(orderID, amount string) error {
	client := quittance.New(os.Getenv("QUITTANCE_URL"), os.Getenv("QUITTANCE_API_KEY"))
	payment, err := client.CreatePayment(context.Background(), quittance.Creation{
		Amount: amount,
		// An address of the pool, for this payment alone. WALLET is one address for all payments.
		WalletPool:     os.Getenv("WALLET_POOL"),
		MerchantWallet: os.Getenv("WALLET"),
		Description:    "Order " + orderID,
		OrderID:        orderID,
	}, "order-"+orderID)
	if err != nil {
		return err
	}
	// Amount is what the customer has to send: with a unique amount a little more than the price.
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(directory, payment.PaymentID), []byte(payment.Amount), 0o600); err != nil {
		return err
	}
	fmt.Println(payment.PaymentURL)
	return nil
}

// handleOnce records the event and does its work in one step, so that an event that arrives twice, or twice at once, has one effect: only
// one of several attempts to create the file succeeds. In a database this is one transaction, which also inserts the event's id into a
// unique column.
func handleOnce(event *quittance.Event) error {
	if event.Status != "PAID" {
		return nil
	}
	if !paymentID.MatchString(event.PaymentID) {
		return fmt.Errorf("no id of a payment: %q", event.PaymentID)
	}
	order := filepath.Join(directory, event.PaymentID)
	// Only one of our orders, with this amount, that is not paid yet.
	if amount, err := os.ReadFile(order); errors.Is(err, fs.ErrNotExist) || (err == nil && string(amount) != event.ExpectedAmount) {
		log.Printf("look into %s of %s", event.EventID, event.PaymentID)
		return nil
	} else if err != nil {
		return err
	}
	paid, err := os.OpenFile(order+".paid", os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	fmt.Println("paid", event.PaymentID, event.ExpectedAmount)
	return paid.Close()
}

func receive(keys map[string]string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			response.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if request.ContentLength > quittance.MaxBody {
			refuseUnread(response, http.StatusRequestEntityTooLarge)
			return
		}
		if quittance.CheckHeader(request.Header) != nil {
			refuseUnread(response, http.StatusBadRequest)
			return
		}
		// There may be no length. Past the limit the connection is closed.
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, quittance.MaxBody))
		if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		} else if err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		event, err := quittance.VerifyWebhook(body, request.Header, keys, time.Now())
		if problem := quittance.ErrWebhook(""); errors.As(err, &problem) {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		if err == nil {
			err = handleOnce(event)
		}
		if err != nil {
			// The event could not be saved, or our keys are wrong, so it must be sent again.
			log.Print(err)
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		response.WriteHeader(http.StatusNoContent)
	}
}

// refuseUnread closes the connection. Otherwise Go reads the rest of the body before it answers.
func refuseUnread(response http.ResponseWriter, status int) {
	response.Header().Set("Connection", "close")
	response.WriteHeader(status)
}

func listen() error {
	var keys map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("SIGNING_KEYS")), &keys); err != nil {
		return fmt.Errorf("SIGNING_KEYS: %w", err)
	}
	listener, err := net.Listen("tcp", ":"+os.Getenv("PORT"))
	if err != nil {
		return err
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: receive(keys), ReadTimeout: 30 * time.Second}
	return server.Serve(listener)
}

func main() {
	if directory == "" {
		directory = "shop"
	}
	run := listen
	if len(os.Args) == 4 && os.Args[1] == "order" {
		run = func() error { return placeOrder(os.Args[2], os.Args[3]) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
