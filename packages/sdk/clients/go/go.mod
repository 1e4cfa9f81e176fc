module quittance

go 1.19
