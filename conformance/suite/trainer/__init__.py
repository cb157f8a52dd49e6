"""Cases of gluon.Trainer."""
