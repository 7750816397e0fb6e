"""Several segments become one without their deleted documents, streamed in bounded memory."""
