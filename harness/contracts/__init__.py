"""The contracts of containers: what runs inside an image, and whether an image keeps them."""
