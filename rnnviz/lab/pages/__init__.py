"""The pages Inside and Train."""
